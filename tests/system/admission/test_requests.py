"""Requests to recreate containers are created while the webhook runs, with the webhooks of the manifests."""

from collections.abc import Iterator

import pytest
import yaml

from tests.support.paths import ROOT
from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Json, Refused
from tests.system.admission.objects import ADMISSION, KRUISE, pod, pods_of, until
from tests.system.admission.webhook import WebhookProcess, configured, forget

pytestmark = pytest.mark.e2e

NAME = "requests"
SYSTEM = "requests-system"
LABEL = "crr.apps.kruise.io"
STATUS = {
    "name": "app",
    "image": "a",
    "imageID": "b",
    "ready": True,
    "restartCount": 3,
    "containerID": "containerd://1",
}


@pytest.fixture(scope="module")
def webhook(api: ApiServer, kinds: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebhookProcess]:
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    api.admin.create("/api/v1/nodes", {"metadata": {"name": "node-a"}})
    flags = ("--self-signed", "--host", "127.0.0.1", "--namespace", SYSTEM)
    folder = tmp_path_factory.mktemp("requests")
    process = WebhookProcess(folder, *flags, "--kubeconfig", str(api.kubeconfig), "--configuration", NAME)
    try:
        _configure(api, process.url)
        until(lambda: configured(api, NAME)["clientConfig"].get("caBundle"), "the caBundle")
        until(lambda: "podName can not be empty" in _refusal(api, "default", podName=""), "the first call")
        yield process
    finally:
        process.stop()
        forget(api, NAME)


def _configure(api: ApiServer, url: str) -> None:
    """The webhooks of the manifests, but at a URL instead of behind a Service."""
    operations = yaml.safe_load(
        (ROOT / "deploy" / "kustomize" / "components" / "enhanced-liveness" / "webhook.yaml").read_text()
    )
    webhooks = [each["value"] for each in operations if "requests" in each["value"]["name"]]
    for each in webhooks:
        each["clientConfig"] = {"url": url + each["clientConfig"]["service"]["path"]}
    assert [each["failurePolicy"] for each in webhooks] == ["Fail", "Ignore"]
    api.admin.create(f"{ADMISSION}/mutatingwebhookconfigurations", {"metadata": {"name": NAME}, "webhooks": webhooks})


def path(namespace: str) -> str:
    return f"{KRUISE}/namespaces/{namespace}/containerrecreaterequests"


def wanted(*, labels: Json | None = None, **spec: object) -> Json:
    body = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "ContainerRecreateRequest"}
    meta = {"generateName": "again-", "labels": labels or {}}
    return {**body, "metadata": meta, "spec": {"podName": "web", "containers": [{"name": "app"}], **spec}}


def _refusal(api: ApiServer, namespace: str, **spec: object) -> str:
    with pytest.raises(Refused) as refused:
        api.admin.create(path(namespace), wanted(**spec))
    return str(refused.value)


@pytest.fixture
def web(api: ApiServer, namespace: str) -> Json:
    api.admin.create(pods_of(namespace), pod("web"))
    status = {"phase": "Running", "containerStatuses": [STATUS]}
    return api.admin.patch(f"{pods_of(namespace)}/web/status", {"status": status})


def test_a_bare_request_gets_what_a_node_needs(
    api: ApiServer, webhook: WebhookProcess, namespace: str, web: Json
) -> None:
    found = api.admin.create(path(namespace), wanted())
    uid = web["metadata"]["uid"]
    assert found["metadata"]["labels"] == {
        f"{LABEL}/active": "true",
        f"{LABEL}/node-name": "node-a",
        f"{LABEL}/pod-uid": uid,
    }
    context = {"containerID": "containerd://1", "restartCount": 3}
    assert found["spec"]["containers"] == [{"name": "app", "statusContext": context}]
    assert found["spec"]["strategy"] == {"failurePolicy": "Fail", "terminationGracePeriodSeconds": 30}


def test_mistakes_are_refused_with_openkruises_words(
    api: ApiServer, webhook: WebhookProcess, namespace: str, web: Json
) -> None:
    assert "no found Pod named gone" in _refusal(api, namespace, podName="gone")
    assert "container other not found in Pod" in _refusal(api, namespace, containers=[{"name": "other"}])
    read_only = [{"name": "app", "preStop": {"exec": {"command": ["x"]}}}]
    assert "are ready-only fields" in _refusal(api, namespace, containers=read_only)


def test_the_label_of_the_node_stays_and_the_active_one_may_go(
    api: ApiServer, webhook: WebhookProcess, namespace: str, web: Json
) -> None:
    name = api.admin.create(path(namespace), wanted())["metadata"]["name"]
    with pytest.raises(Refused, match="not allowed to update immutable label"):
        api.admin.patch(f"{path(namespace)}/{name}", {"metadata": {"labels": {f"{LABEL}/node-name": "node-b"}}})
    found = api.admin.patch(f"{path(namespace)}/{name}", {"metadata": {"labels": {f"{LABEL}/active": None}}})
    assert f"{LABEL}/active" not in found["metadata"]["labels"]


def test_c5_a_second_request_of_the_decision_for_a_container_is_refused(
    api: ApiServer, webhook: WebhookProcess, namespace: str, web: Json
) -> None:
    ours = {"elp.kruise.io/managed": "true"}
    api.admin.create(path(namespace), wanted(labels=ours))
    with pytest.raises(Refused, match="is under way for the same container"):
        api.admin.create(path(namespace), wanted(labels=ours))
    assert api.admin.create(path(namespace), wanted())


def test_without_the_webhook_a_person_is_refused_and_the_decision_is_not(
    api: ApiServer, webhook: WebhookProcess, namespace: str, web: Json
) -> None:
    webhook.stop()
    with pytest.raises(Refused, match="failed calling webhook"):
        api.admin.create(path(namespace), wanted())
    found = api.admin.create(path(namespace), wanted(labels={"elp.kruise.io/managed": "true"}))
    api.admin.patch(f"{path(namespace)}/{found['metadata']['name']}", {"metadata": {"finalizers": ["a.b/c"]}})
    api.admin.patch(f"{path(namespace)}/{found['metadata']['name']}", {"metadata": {"finalizers": []}})
