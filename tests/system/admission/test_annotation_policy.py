"""Nobody changes ``probelet.dev/probes`` of a pod that is there: one test for each way in. Ordinary work goes on."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import APPLY, JSON_PATCH, MERGE, STRATEGIC, Client, Json, Refused
from tests.system.admission.objects import allow, pod, pods_of, user

pytestmark = pytest.mark.e2e

PROBES = "probelet.dev/probes"
MADE = "probelet.dev/made-probes"
CONTEXT = "apps.kruise.io/container-probe-context"
POINTER = "/metadata/annotations/probelet.dev~1probes"
WRITTEN = '{"app":{"livenessProbe":{"exec":{"command":["true"]}}}}'
SMUGGLED = '{"app":{"livenessProbe":{"exec":{"command":["cat","/etc/shadow"]}}}}'
WORDS = "annotation probelet.dev/probes is written once"


@pytest.fixture(scope="module", autouse=True)
def _policy(policy: None) -> None:
    """Each test here is about the policy."""


@pytest.fixture(scope="module")
def editor(api: ApiServer) -> Client:
    """Somebody who may do anything with pods, but not run commands in them."""
    verbs = ["create", "get", "update", "patch", "delete"]
    resources = ("pods", "pods/status", "pods/binding", "bindings", "pods/ephemeralcontainers", "pods/resize")
    allow(api, "editor", user("editor"), *(("", resource, verbs) for resource in resources))
    return api.user("editor")


@pytest.fixture(params=["editor", "admin"])
def who(request: pytest.FixtureRequest, api: ApiServer, editor: Client) -> Client:
    return editor if request.param == "editor" else api.admin


@pytest.fixture
def ours(api: ApiServer, namespace: str) -> str:
    """The path of a pod whose probes were taken over."""
    api.admin.create(pods_of(namespace), pod("ours", annotations={PROBES: WRITTEN, "other": "1"}))
    return f"{pods_of(namespace)}/ours"


def annotations(api: ApiServer, path: str) -> Json:
    found: Json = api.admin.get(path)["metadata"].get("annotations") or {}
    return found


Change = Callable[[Client, str, str | None], Any]
"""A way in: sets the annotation to a text, or with None removes it."""


def by_merge(client: Client, path: str, text: str | None) -> None:
    client.patch(path, {"metadata": {"annotations": {PROBES: text}}}, MERGE)


def by_strategic_merge(client: Client, path: str, text: str | None) -> None:
    client.patch(path, {"metadata": {"annotations": {PROBES: text}}}, STRATEGIC)


def by_json_patch(client: Client, path: str, text: str | None) -> None:
    operation = {"op": "remove"} if text is None else {"op": "add", "value": text}
    client.patch(path, [{**operation, "path": POINTER}], JSON_PATCH)


def by_update(client: Client, path: str, text: str | None) -> None:
    value = client.get(path.removesuffix("/status"))
    value["metadata"]["annotations"] = {"other": "2"} if text is None else {"other": "2", PROBES: text}
    client.call("PUT", path, value)


def by_apply(client: Client, path: str, text: str | None) -> None:
    name = path.removesuffix("/status").rsplit("/", 1)[1]
    value = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": {PROBES: text or ""}}}
    client.patch(f"{path}?fieldManager=test&force=true", value, APPLY)


WAYS = pytest.mark.parametrize("way", [by_merge, by_strategic_merge, by_json_patch, by_update, by_apply])


@WAYS
@pytest.mark.parametrize("subresource", ["", "/status"])
@pytest.mark.parametrize("text", [SMUGGLED, "", None])
def test_it_cannot_be_changed_or_removed(
    api: ApiServer, who: Client, ours: str, way: Change, subresource: str, text: str | None
) -> None:
    with pytest.raises(Refused, match=WORDS) as raised:
        way(who, ours + subresource, text)
    assert (raised.value.code, raised.value.status["reason"]) == (403, "Forbidden")
    assert annotations(api, ours)[PROBES] == WRITTEN


@WAYS
@pytest.mark.parametrize("subresource", ["", "/status"])
def test_it_cannot_be_added(api: ApiServer, who: Client, namespace: str, way: Change, subresource: str) -> None:
    api.admin.create(pods_of(namespace), pod("plain", annotations={"other": "1"}))
    path = f"{pods_of(namespace)}/plain"
    with pytest.raises(Refused, match=WORDS):
        way(who, path + subresource, SMUGGLED)
    assert PROBES not in annotations(api, path)


@pytest.mark.parametrize("text", ["{}", None])
def test_the_probes_that_the_webhook_made_stay_named(
    api: ApiServer, who: Client, namespace: str, text: str | None
) -> None:
    named = {PROBES: WRITTEN, MADE: '{"app":["startupProbe"]}'}
    api.admin.create(pods_of(namespace), pod("made", annotations=named))
    path = f"{pods_of(namespace)}/made"
    for subresource in ("", "/status"):
        with pytest.raises(Refused, match=WORDS):
            who.patch(path + subresource, {"metadata": {"annotations": {MADE: text}}}, MERGE)
    assert annotations(api, path) == named


OPTIONS = "probelet.dev/probe-options"
CHANGES = "probelet.dev/probe-changes"
LIVE = {PROBES: WRITTEN, CHANGES: "live"}
OPTED = '{"app":{"livenessProbe":{"whenFailing":"1s"}}}'


@pytest.mark.parametrize("subresource", ["", "/status"])
@pytest.mark.parametrize("text", [OPTED, "{}", None])
def test_the_options_of_probes_cannot_be_changed_later(
    api: ApiServer, who: Client, namespace: str, subresource: str, text: str | None
) -> None:
    given = {PROBES: WRITTEN, OPTIONS: '{"app":{"livenessProbe":{"errors":{"failureAfter":9}}}}'}
    api.admin.create(pods_of(namespace), pod("opted", annotations=given))
    path = f"{pods_of(namespace)}/opted"
    with pytest.raises(Refused, match=WORDS):
        who.patch(path + subresource, {"metadata": {"annotations": {OPTIONS: text}}}, MERGE)
    assert annotations(api, path) == given


@pytest.mark.parametrize("value", ["live", None])
def test_whether_probes_may_change_is_said_at_the_creation(
    api: ApiServer, who: Client, namespace: str, value: str | None
) -> None:
    given = LIVE if value is None else {PROBES: WRITTEN}
    api.admin.create(pods_of(namespace), pod("asked", annotations=given))
    path = f"{pods_of(namespace)}/asked"
    for more in ({}, {PROBES: SMUGGLED}):
        with pytest.raises(Refused, match=WORDS):
            who.patch(path, {"metadata": {"annotations": {CHANGES: value, **more}}}, MERGE)
    assert annotations(api, path) == given


def test_probes_that_may_change_are_for_those_who_may_run_commands(
    api: ApiServer, editor: Client, namespace: str
) -> None:
    allow(api, "changer", user("operator"), ("", "pods", ["patch"]), ("", "pods/exec", ["create"]))
    changer = api.user("operator")
    api.admin.create(pods_of(namespace), pod("live", annotations=LIVE))
    path = f"{pods_of(namespace)}/live"
    for key, text in ((PROBES, SMUGGLED), (OPTIONS, OPTED)):
        for way in (path, f"{path}/status"):
            with pytest.raises(Refused, match="must be allowed to create pods/exec"):
                editor.patch(way, {"metadata": {"annotations": {key: text}}}, MERGE)
    editor.patch(path, {"metadata": {"annotations": {"other": "1"}}}, MERGE)
    changer.patch(path, {"metadata": {"annotations": {PROBES: SMUGGLED, OPTIONS: OPTED}}}, MERGE)
    for wrong in ({MADE: "{}"}, {PROBES: None}):
        with pytest.raises(Refused, match=WORDS):
            changer.patch(path, {"metadata": {"annotations": wrong}}, MERGE)
    assert annotations(api, path) == {**LIVE, "other": "1", PROBES: SMUGGLED, OPTIONS: OPTED}


def bound(namespace: str, name: str, key: str) -> Json:
    target = {"apiVersion": "v1", "kind": "Node", "name": "node-a"}
    return {"metadata": {"name": name, "namespace": namespace, "annotations": {key: SMUGGLED}}, "target": target}


@pytest.mark.parametrize("before", [None, WRITTEN])
def test_a_binding_cannot_bring_it(api: ApiServer, who: Client, namespace: str, before: str | None) -> None:
    given = {} if before is None else {PROBES: before}
    api.admin.create(pods_of(namespace), pod("waiting", node=None, annotations={"other": "1", **given}))
    path = f"{pods_of(namespace)}/waiting"
    for way in (f"{path}/binding", f"/api/v1/namespaces/{namespace}/bindings"):
        for key in (PROBES, MADE):
            with pytest.raises(Refused, match=WORDS):
                who.create(way, bound(namespace, "waiting", key))
    found = api.admin.get(path)
    assert (found["metadata"]["annotations"].get(PROBES), found["spec"].get("nodeName")) == (before, None)


def test_a_binding_without_it_binds_and_leaves_it_as_it_is(api: ApiServer, who: Client, namespace: str) -> None:
    api.admin.create(pods_of(namespace), pod("waiting", node=None, annotations={PROBES: WRITTEN}))
    path = f"{pods_of(namespace)}/waiting"
    who.create(f"{path}/binding", bound(namespace, "waiting", "harmless"))
    found = api.admin.get(path)
    assert found["spec"]["nodeName"] == "node-a"
    assert found["metadata"]["annotations"] == {PROBES: WRITTEN, "harmless": SMUGGLED}


def test_the_other_subresources_do_not_carry_it(api: ApiServer, who: Client, ours: str) -> None:
    changed = {"metadata": {"annotations": {PROBES: SMUGGLED}}}
    debug = {"name": "debug", "image": "registry.local/debug:1"}
    who.patch(f"{ours}/ephemeralcontainers", {**changed, "spec": {"ephemeralContainers": [debug]}}, STRATEGIC)
    resized = {"containers": [{"name": "app", "resources": {}}]}
    who.patch(f"{ours}/resize", {**changed, "spec": resized}, STRATEGIC)
    assert annotations(api, ours)[PROBES] == WRITTEN


def test_whatever_else_changes_passes(api: ApiServer, who: Client, ours: str, namespace: str) -> None:
    who.patch(ours, {"metadata": {"annotations": {"other": None, "new": "1"}, "labels": {"a": "b"}}})
    who.patch(f"{ours}/status", {"status": {"phase": "Running"}})
    assert annotations(api, ours) == {PROBES: WRITTEN, "new": "1"}
    api.admin.create(pods_of(namespace), pod("bare"))
    who.patch(f"{pods_of(namespace)}/bare/status", {"status": {"phase": "Running"}})
    who.delete(ours)
    # A new pod of the same name may have other probes.
    who.create(pods_of(namespace), pod("ours", annotations={PROBES: SMUGGLED}))


def test_commands_of_enhanced_liveness_are_for_those_who_may_run_commands(
    api: ApiServer, editor: Client, namespace: str
) -> None:
    allow(api, "operator", user("operator"), ("", "pods", ["patch"]), ("", "pods/status", ["patch"]))
    allow(api, "operator-exec", user("operator"), ("", "pods/exec", ["create"]), ("", "pods/binding", ["create"]))
    operator = api.user("operator")
    api.admin.create(pods_of(namespace), pod("web", node=None, annotations={CONTEXT: "[]"}))
    path = f"{pods_of(namespace)}/web"
    for text in (SMUGGLED, None):
        for way in (path, f"{path}/status"):
            with pytest.raises(Refused, match="must be allowed to create pods/exec"):
                editor.patch(way, {"metadata": {"annotations": {CONTEXT: text}}})
    for way in (f"{path}/binding", f"/api/v1/namespaces/{namespace}/bindings"):
        with pytest.raises(Refused, match="must be allowed to create pods/exec"):
            editor.create(way, bound(namespace, "web", CONTEXT))
    operator.patch(path, {"metadata": {"annotations": {CONTEXT: "1"}}})
    operator.patch(f"{path}/status", {"metadata": {"annotations": {CONTEXT: None}}})
    operator.create(f"{path}/binding", bound(namespace, "web", CONTEXT))
    assert annotations(api, path) == {CONTEXT: SMUGGLED}
