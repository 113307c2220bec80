"""Pods are created while the webhook runs: the real API server calls it over TLS."""

import base64
import copy
import json
import time
from collections.abc import Iterator

import pytest

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Json, Refused
from tests.system.admission.injector import Injector
from tests.system.admission.objects import ADMISSION, pods_of, until
from tests.system.admission.webhook import CONFIGURATION, WebhookProcess, configure, configured, forget

pytestmark = pytest.mark.e2e

LABELS = {"probelet.dev/managed": "true"}
PROBES = "probelet.dev/probes"
REASON = "probelet.dev/not-taken-over"
MADE, FALLBACK = "probelet.dev/made-probes", "probelet.dev/fallback"
CONTEXT = "apps.kruise.io/container-probe-context"
LIVENESS = {"httpGet": {"port": 8080}}
READINESS = {"exec": {"command": ["test", "-f", "/tmp/ready"]}, "successThreshold": 2}
# What the API server makes of them before it calls a webhook.
DEFAULTED = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


@pytest.fixture(scope="module")
def webhook(api: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebhookProcess]:
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": "webhook-system"}})
    folder = tmp_path_factory.mktemp("webhook")
    flags = ("--self-signed", "--host", "127.0.0.1", "--namespace", "webhook-system")
    process = WebhookProcess(folder, *flags, "--kubeconfig", str(api.kubeconfig), "--configuration", CONFIGURATION)
    try:
        configure(api, process.url)
        until(lambda: configured(api)["clientConfig"].get("caBundle"), "the caBundle")
        until(lambda: PROBES in made(api, "default", web())["metadata"].get("annotations", {}), "the first call")
        yield process
    finally:
        process.stop()
        forget(api)


def web(**fields: object) -> Json:
    container = {"name": "app", "image": "registry.local/app:1", "livenessProbe": LIVENESS, "readinessProbe": READINESS}
    spec = {"containers": [container], **fields}
    return {"metadata": {"generateName": "web-", "labels": LABELS}, "spec": copy.deepcopy(spec)}


def made(api: ApiServer, namespace: str, pod: Json, query: str = "") -> Json:
    return api.admin.create(pods_of(namespace) + query, pod)


@pytest.mark.parametrize("query", ["", "?dryRun=All"])
def test_probes_move_and_the_gate_comes(api: ApiServer, webhook: WebhookProcess, namespace: str, query: str) -> None:
    stored = made(api, namespace, web(), query)
    assert json.loads(stored["metadata"]["annotations"][PROBES]) == {
        "app": {
            "livenessProbe": {**DEFAULTED, "httpGet": {"path": "/", "port": 8080, "scheme": "HTTP"}},
            "readinessProbe": {**DEFAULTED, **READINESS},
        }
    }
    container = stored["spec"]["containers"][0]
    assert not {"livenessProbe", "readinessProbe"} & container.keys()
    never = {"successThreshold": 1, "failureThreshold": 2**31 - 1}
    assert container["startupProbe"] == {**DEFAULTED, **READINESS, **never}
    assert stored["metadata"]["annotations"][MADE] == '{"app":["startupProbe"]}'
    assert stored["spec"]["readinessGates"] == [{"conditionType": "probelet.dev/ready"}]
    assert api.admin.warnings == []


def test_the_fallback_is_the_pods_own_probe_for_longer(api: ApiServer, webhook: WebhookProcess, namespace: str) -> None:
    pod = web()
    pod["metadata"]["annotations"] = {FALLBACK: "10m"}
    stored = made(api, namespace, pod)
    native = stored["spec"]["containers"][0]["livenessProbe"]
    moved = json.loads(stored["metadata"]["annotations"][PROBES])["app"]["livenessProbe"]
    assert native == {**moved, "failureThreshold": 60}
    assert moved["failureThreshold"] == 3
    assert stored["metadata"]["annotations"][MADE] == '{"app":["livenessProbe","startupProbe"]}'
    pod["metadata"]["annotations"] = {FALLBACK: "5s"}
    stored = made(api, namespace, pod)
    assert stored["spec"]["containers"][0]["livenessProbe"] == moved
    said = f'metadata.annotations[{FALLBACK}]: Invalid value: "5s": must be a duration of at least 1m, or none'
    assert stored["metadata"]["annotations"][REASON] == said
    assert api.admin.warnings == [f"probelet: probes stay native: {said}"]


def test_pods_without_the_label_are_as_they_were(api: ApiServer, webhook: WebhookProcess, namespace: str) -> None:
    plain = web()
    del plain["metadata"]["labels"]
    stored = made(api, namespace, plain)
    assert "livenessProbe" in stored["spec"]["containers"][0]
    assert "annotations" not in stored["metadata"]


def test_what_stays_native_is_said_to_the_person_and_on_the_pod(
    api: ApiServer, webhook: WebhookProcess, namespace: str
) -> None:
    stored = made(api, namespace, web(restartPolicy="OnFailure"))
    assert "livenessProbe" in stored["spec"]["containers"][0]
    assert PROBES not in stored["metadata"]["annotations"]
    assert "has restartPolicy OnFailure" in stored["metadata"]["annotations"][REASON]
    assert api.admin.warnings == [f"probelet: probes stay native: {stored['metadata']['annotations'][REASON]}"]


def test_a_warning_as_long_as_can_be_reaches_the_person(
    api: ApiServer, webhook: WebhookProcess, namespace: str
) -> None:
    pod = web()
    pod["spec"]["containers"][0]["livenessProbe"] = {"httpGet": {"port": 1, "host": "h" * 400 + "\u00e4\t"}}
    made(api, namespace, pod)
    assert len(api.admin.warnings) == 1
    assert len(api.admin.warnings[0].encode()) == 256


MISTAKES: list[tuple[str, Json]] = [
    ("livenessProbe", {"httpGet": {"port": 0}}),
    ("livenessProbe", {"httpGet": {"port": "a name that is too long"}}),
    ("livenessProbe", {"httpGet": {"port": 80, "scheme": "FTP"}}),
    ("livenessProbe", {"httpGet": {"port": 80, "httpHeaders": [{"name": "a b", "value": ""}]}}),
    ("livenessProbe", {"tcpSocket": {"port": 80}, "periodSeconds": -1, "timeoutSeconds": -2}),
    ("livenessProbe", {"tcpSocket": {"port": 80}, "successThreshold": 2}),
    ("livenessProbe", {"exec": {}}),
    ("readinessProbe", {}),
    ("readinessProbe", {"exec": {"command": ["a"]}, "grpc": {"port": 1}}),
    ("readinessProbe", {"grpc": {"port": 70000}, "terminationGracePeriodSeconds": 5}),
    ("startupProbe", {"grpc": {"port": 80}, "terminationGracePeriodSeconds": -1}),
]


@pytest.mark.parametrize(("field", "probe"), MISTAKES)
def test_a_mistake_gets_the_api_servers_answer_with_and_without_the_label(
    api: ApiServer, webhook: WebhookProcess, namespace: str, field: str, probe: Json
) -> None:
    pod = web()
    pod["metadata"]["name"] = "same"
    pod["spec"]["containers"][0][field] = probe
    answers = []
    for labels in (LABELS, {}):
        pod["metadata"]["labels"] = labels
        with pytest.raises(Refused) as raised:
            made(api, namespace, pod)
        answers.append(raised.value.status)
    assert answers[0] == answers[1]
    assert f"spec.containers[0].{field}" in answers[0]["message"]


def test_probes_where_none_may_be_are_refused_too(api: ApiServer, webhook: WebhookProcess, namespace: str) -> None:
    job = {"name": "job", "image": "registry.local/job:1", "livenessProbe": LIVENESS}
    with pytest.raises(Refused, match="may not be set for init containers"):
        made(api, namespace, web(initContainers=[job]))


def test_an_exec_probe_of_the_largest_pod_passes(api: ApiServer, webhook: WebhookProcess, namespace: str) -> None:
    pod = web()
    # The whole pod is a megabyte, and the probe alone is too large for an annotation.
    pod["spec"]["containers"][0]["livenessProbe"] = {"exec": {"command": ["true", "x" * 300_000]}}
    pod["spec"]["containers"][0]["env"] = [{"name": "LARGE", "value": "y" * 700_000}]
    stored = made(api, namespace, pod)
    assert "livenessProbe" in stored["spec"]["containers"][0]
    assert "more than the 262144 allowed" in stored["metadata"]["annotations"][REASON]


@pytest.mark.parametrize("name", ["aa-injector", "zzz-injector"])
def test_an_injector_in_either_order_ends_alike(
    api: ApiServer, webhook: WebhookProcess, namespace: str, name: str
) -> None:
    with Injector({"name": "proxy", "image": "registry.local/proxy:1", "readinessProbe": LIVENESS}) as injector:
        bundle = base64.b64encode(injector.authority).decode()
        client = {"url": injector.url, "caBundle": bundle}
        value = configured(api) | {"name": "injector.example.com", "clientConfig": client}
        body = {"metadata": {"name": name}, "webhooks": [value]}
        api.admin.create(f"{ADMISSION}/mutatingwebhookconfigurations", body)
        try:
            until(lambda: len(made(api, "default", web())["spec"]["containers"]) == 2, "the injector")
            before = time.monotonic()
            stored = made(api, namespace, web())
            assert time.monotonic() - before < 5
        finally:
            forget(api, name)
    assert sorted(json.loads(stored["metadata"]["annotations"][PROBES])) == ["app", "proxy"]
    assert [container["name"] for container in stored["spec"]["containers"]] == ["app", "proxy"]
    assert not any("readinessProbe" in container for container in stored["spec"]["containers"])
    assert json.loads(stored["metadata"]["annotations"][MADE]) == {"app": ["startupProbe"], "proxy": ["startupProbe"]}


@pytest.mark.parametrize("name", ["aa-enhanced", "zzz-enhanced"])
@pytest.mark.parametrize("own", [{"startupProbe": {"tcpSocket": {"port": 8080}}}, {}])
def test_both_opt_ins_in_either_order_end_alike(
    api: ApiServer, webhook: WebhookProcess, namespace: str, name: str, own: Json
) -> None:
    before = configured(api)
    client = {**before["clientConfig"], "url": f"{webhook.url}/mutate-enhanced-liveness"}
    value = before | {"name": "enhanced-liveness.probelet.dev", "clientConfig": client, "objectSelector": {}}
    body = {"metadata": {"name": name}, "webhooks": [value]}
    api.admin.create(f"{ADMISSION}/mutatingwebhookconfigurations", body)
    pod = web()
    pod["spec"]["containers"][0] |= own
    pod["metadata"]["annotations"] = {"apps.kruise.io/using-enhanced-liveness": "true", FALLBACK: "1h"}
    try:
        until(lambda: CONTEXT in made(api, namespace, pod)["metadata"]["annotations"], "enhanced liveness")
        stored = made(api, namespace, pod)
    finally:
        forget(api, name)
    annotations = stored["metadata"]["annotations"]
    assert [sorted(probes) for probes in json.loads(annotations[PROBES]).values()] == [["readinessProbe"]]
    assert [sorted(entry) for entry in json.loads(annotations[CONTEXT])] == [["livenessProbe", "name"]]
    container = stored["spec"]["containers"][0]
    assert sorted(field for field in container if field.endswith("Probe")) == ["livenessProbe", "startupProbe"]
    assert container["livenessProbe"]["failureThreshold"] == 360
    ours = ["livenessProbe"] if own else ["livenessProbe", "startupProbe"]
    assert json.loads(annotations[MADE]) == {"app": ours}
    assert REASON not in annotations


def test_requests_are_counted_and_logged(api: ApiServer, webhook: WebhookProcess, namespace: str) -> None:
    made(api, namespace, web())
    status, page = webhook.page("/metrics")
    assert status == 200
    assert 'probelet_webhook_requests_total{handler="mutate-probes",result="taken-over"}' in page
    assert "probelet_webhook_certificate_not_after_seconds" in page
    assert webhook.page("/healthz") == webhook.page("/readyz") == (200, "ok\n")
    answered = [line for line in webhook.log if line["message"] == "answered" and line["namespace"] == namespace]
    assert [(line["result"], line["dry_run"]) for line in answered] == [("taken-over", False)]


# A namespace with the label asks for its pods: the API server calls the webhook for the label, then because of it.


@pytest.fixture(scope="module")
def labelled(api: ApiServer, webhook: WebhookProcess) -> str:
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": "labelled", "labels": LABELS}})
    until(lambda: PROBES in made(api, "labelled", bare())["metadata"].get("annotations", {}), "the first call")
    return "labelled"


def bare(labels: dict[str, str] | None = None) -> Json:
    pod = web()
    pod["metadata"] = {"generateName": "web-"} if labels is None else {"generateName": "web-", "labels": labels}
    return pod


@pytest.mark.parametrize("labels", [None, {}, {"app": "web"}])
def test_a_pod_of_a_namespace_with_the_label_is_taken_over(
    api: ApiServer, labelled: str, labels: dict[str, str] | None
) -> None:
    stored = made(api, labelled, bare(labels))
    assert stored["metadata"]["labels"] == {**(labels or {}), **LABELS}
    assert list(json.loads(stored["metadata"]["annotations"][PROBES])) == ["app"]
    assert "livenessProbe" not in stored["spec"]["containers"][0]


@pytest.mark.parametrize("value", ["false", "no", ""])
def test_a_pod_with_a_label_of_its_own_has_the_last_word(api: ApiServer, labelled: str, value: str) -> None:
    stored = made(api, labelled, bare({"probelet.dev/managed": value}))
    assert stored["metadata"]["labels"] == {"probelet.dev/managed": value}
    assert PROBES not in stored["metadata"].get("annotations", {})


def test_a_pod_without_a_probe_to_take_over_gets_no_label(api: ApiServer, labelled: str) -> None:
    pod = bare()
    pod["spec"]["containers"] = [{"name": "app", "image": "registry.local/app:1", "startupProbe": LIVENESS}]
    assert "labels" not in made(api, labelled, pod)["metadata"]


def test_the_label_of_kube_system_has_no_effect_and_a_pods_own_has(api: ApiServer, webhook: WebhookProcess) -> None:
    path = "/api/v1/namespaces/kube-system"
    api.admin.patch(path, {"metadata": {"labels": LABELS}})
    try:
        assert "labels" not in made(api, "kube-system", bare())["metadata"]
        assert PROBES in made(api, "kube-system", bare(LABELS))["metadata"]["annotations"]
    finally:
        api.admin.patch(path, {"metadata": {"labels": dict.fromkeys(LABELS)}})


def test_a_label_that_the_namespace_gets_later_is_for_new_pods(
    api: ApiServer, webhook: WebhookProcess, namespace: str
) -> None:
    before = made(api, namespace, bare())
    path = f"/api/v1/namespaces/{namespace}"
    api.admin.patch(path, {"metadata": {"labels": LABELS}})
    until(lambda: PROBES in made(api, namespace, bare())["metadata"].get("annotations", {}), "the label to count")
    again = api.admin.get(f"{pods_of(namespace)}/{before['metadata']['name']}")
    assert again["spec"] == before["spec"]
    assert PROBES not in again["metadata"].get("annotations", {})
    # Without the label new pods are native again; a pod that was taken over stays so.
    api.admin.patch(path, {"metadata": {"labels": dict.fromkeys(LABELS)}})
    until(lambda: "labels" not in made(api, namespace, bare())["metadata"], "the end of the label")


def test_other_namespaces_ask_for_nothing(api: ApiServer, webhook: WebhookProcess, namespace: str) -> None:
    assert "labels" not in made(api, namespace, bare())["metadata"]
