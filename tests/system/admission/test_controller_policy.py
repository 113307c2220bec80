"""What the controller may write on a pod: its gate, shut, and what takes it out of service for a request."""

import pytest

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import APPLY, Client, Json, Refused
from tests.system.admission.objects import allow, pod, pods_of

pytestmark = pytest.mark.e2e

SYSTEM = "probelet-other"
NAME = "probelet-controller"
GATE = "probelet.dev/ready"


@pytest.fixture(scope="module", autouse=True)
def _policy(policy: None) -> None:
    """Each test here is about the policy."""


@pytest.fixture(scope="module")
def controller(api: ApiServer) -> Client:
    """The controller, in a namespace of another name, with more rights than its role gives."""
    accounts = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts"
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    api.admin.create(accounts, {"metadata": {"name": NAME}})
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": SYSTEM}
    allow(api, "controller", subject, ("", "pods/status", ["patch", "update"]), ("", "pods", ["patch", "get"]))
    made = api.admin.create(f"{accounts}/{NAME}/token", {"spec": {}})
    return api.admin.as_user(str(made["status"]["token"]))


@pytest.fixture
def path(api: ApiServer, namespace: str) -> str:
    """The path of a pod whose gate an agent has opened."""
    api.admin.create(pods_of(namespace), pod("web", node="node-a", annotations={"probelet.dev/probes": "{}"}))
    path = f"{pods_of(namespace)}/web"
    gate(api.admin, path, "True")
    return path


def gate(client: Client, path: str, status: str, **more: str) -> Json:
    """Server-side apply with the agent's field manager, as both do it."""
    condition = {"type": GATE, "status": status, "lastTransitionTime": "2026-11-22T00:00:00Z", **more}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "status": {"conditions": [condition]}}
    return client.patch(f"{path}/status?fieldManager=probelet-agent&force=true", body, APPLY)


def found(api: ApiServer, path: str) -> Json:
    (condition,) = [one for one in api.admin.get(path)["status"]["conditions"] if one["type"] == GATE]
    return dict(condition)


def test_it_closes_the_gate_and_an_agent_opens_it_again(api: ApiServer, controller: Client, path: str) -> None:
    gate(controller, path, "False", reason="AgentAbsent", message="silent")
    assert found(api, path)["reason"] == "AgentAbsent"
    gate(api.admin, path, "True")
    assert found(api, path).keys() & {"reason", "message"} == set()


def test_it_takes_a_pod_out_of_service_for_a_request_and_puts_it_back(controller: Client, path: str) -> None:
    kind = "application/strategic-merge-patch+json"
    for status in ("False", "True"):
        rows = [{"type": "KruisePodReady", "status": status}, {"type": "Ready", "status": "False"}]
        controller.patch(f"{path}/status", {"status": {"conditions": rows}}, kind)


def test_it_opens_no_gate(api: ApiServer, controller: Client, path: str) -> None:
    gate(controller, path, "False")
    with pytest.raises(Refused, match="closes the gate"):
        gate(controller, path, "True")
    assert found(api, path)["status"] == "False"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": {"phase": "Failed"}}, "leaves phase, addresses and the rest"),
        ({"status": {"conditions": [{"type": "PodScheduled", "status": "False"}]}}, "sets no condition but"),
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "turns Ready to False, never to True"),
        ({"status": {"containerStatuses": None, "podIP": "10.9.9.9"}}, "leaves phase, addresses and the rest"),
        ({"metadata": {"annotations": {"new": "1"}}}, "leaves the metadata of pods as they are"),
    ],
)
def test_it_leaves_everything_else_of_a_status(controller: Client, path: str, change: Json, why: str) -> None:
    with pytest.raises(Refused, match=why):
        controller.patch(f"{path}/status", change, "application/strategic-merge-patch+json")
