"""What an agent may write: its condition, on pods of its own node, with a token that is bound to its pod."""

from typing import Any

import pytest

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import APPLY, Client, Json, Refused
from tests.system.admission.objects import allow, pod, pods_of

pytestmark = pytest.mark.e2e

SYSTEM = "probelet-system"
NAME = "probelet-agent"
ACCOUNTS = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts"

RUNNING = {
    "phase": "Running",
    "podIP": "10.1.2.3",
    "podIPs": [{"ip": "10.1.2.3"}],
    "conditions": [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"},
    ],
    "containerStatuses": [
        {"name": "app", "image": "a", "imageID": "b", "ready": True, "started": True, "restartCount": 1}
    ],
}


@pytest.fixture(scope="module", autouse=True)
def _policy(policy: None) -> None:
    """Each test here is about the policy."""


@pytest.fixture(scope="module")
def account(api: ApiServer) -> str:
    """The path of the agents' service account."""
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    api.admin.create(ACCOUNTS, {"metadata": {"name": NAME}})
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": SYSTEM}
    allow(api, "agent", subject, ("", "pods/status", ["patch", "update"]), ("", "pods", ["patch", "get"]))
    return f"{ACCOUNTS}/{NAME}"


@pytest.fixture(scope="module")
def agent(api: ApiServer, account: str) -> Client:
    """The agent of node-a."""
    body = pod("agent-on-node-a")
    body["spec"]["serviceAccountName"] = NAME
    made = api.admin.create(pods_of(SYSTEM), body)
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "agent-on-node-a", "uid": made["metadata"]["uid"]}
    return api.admin.as_user(token(api, account, reference))


def token(api: ApiServer, account: str, bound_to: Json | None) -> str:
    asked = {"spec": {"boundObjectRef": bound_to}} if bound_to else {"spec": {}}
    return str(api.admin.create(f"{account}/token", asked)["status"]["token"])


@pytest.fixture
def path(api: ApiServer, namespace: str) -> str:
    """The path of a pod that runs on node-a."""
    return running(api, namespace, "node-a")


def running(api: ApiServer, namespace: str, node: str) -> str:
    body = pod(node, node=node, annotations={"probelet.dev/probes": "{}"}, labels={"app": "web"})
    body["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    api.admin.create(pods_of(namespace), body)
    path = f"{pods_of(namespace)}/{node}"
    api.admin.patch(f"{path}/status", {"status": RUNNING})
    return path


def condition(client: Client, path: str, status: str, **more: Any) -> Json:
    """Server-side apply, as the agent does it."""
    name = path.rsplit("/", 1)[1]
    conditions = [{"type": "probelet.dev/ready", "status": status, "lastTransitionTime": "2026-11-22T00:00:00Z"}]
    value = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "status": {"conditions": conditions}}
    value["status"] |= more  # type: ignore[operator]
    return client.patch(f"{path}/status?fieldManager=probelet-agent&force=true", value, APPLY)


def test_it_sets_its_condition_and_changes_it(agent: Client, path: str) -> None:
    for status in ("False", "True", "True"):
        found = condition(agent, path, status)["status"]
        assert {one["type"]: one["status"] for one in found["conditions"]} == {
            "PodScheduled": "True",
            "Ready": "False",
            "probelet.dev/ready": status,
        }
    assert found["containerStatuses"][0]["restartCount"] == 1


def test_a_kubelets_condition_between_two_of_its_own_is_no_obstacle(api: ApiServer, agent: Client, path: str) -> None:
    condition(agent, path, "False")
    api.admin.patch(f"{path}/status", {"status": {"phase": "Failed", "conditions": [*RUNNING["conditions"]]}})
    condition(agent, path, "True")


def test_it_does_not_touch_pods_of_another_node(api: ApiServer, agent: Client, namespace: str) -> None:
    for other in ("node-b", "node-a.example"):
        with pytest.raises(Refused, match="touches only pods of its own node"):
            condition(agent, running(api, namespace, other), "True")
    api.admin.create(pods_of(namespace), pod("waiting", node=None))
    with pytest.raises(Refused, match="touches only pods of its own node"):
        condition(agent, f"{pods_of(namespace)}/waiting", "True")


def test_a_token_that_is_bound_to_no_node_is_not_enough(api: ApiServer, account: str, path: str) -> None:
    with pytest.raises(Refused, match="with a token that is bound to a pod on it"):
        condition(api.admin.as_user(token(api, account, None)), path, "True")


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"app": "other"}},
        {"labels": {"new": "1"}},
        {"annotations": {"new": "1"}},
        {"finalizers": ["example.com/stay"]},
    ],
)
def test_it_leaves_the_metadata_as_they_are(agent: Client, path: str, metadata: Json) -> None:
    with pytest.raises(Refused, match="leaves the metadata of pods as they are"):
        agent.patch(f"{path}/status", {"metadata": metadata})


def test_owners_do_not_change_by_a_status_at_all(api: ApiServer, agent: Client, path: str) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1"}
    agent.patch(f"{path}/status", {"metadata": {"ownerReferences": [owner]}})
    assert "ownerReferences" not in api.admin.get(path)["metadata"]


@pytest.mark.parametrize(
    "conditions",
    [
        [{"type": "Ready", "status": "True"}],
        [{"type": "example.com/other", "status": "True"}],
        [{"$patch": "delete", "type": "PodScheduled"}],
    ],
)
def test_it_sets_no_other_condition(agent: Client, path: str, conditions: list[Json]) -> None:
    with pytest.raises(Refused, match=r"sets no condition but probelet\.dev/ready"):
        agent.patch(f"{path}/status", {"status": {"conditions": conditions}}, "application/strategic-merge-patch+json")


@pytest.mark.parametrize(
    "status",
    [
        {"containerStatuses": None},
        {"containerStatuses": [{**RUNNING["containerStatuses"][0], "ready": False}]},  # type: ignore[index]
        {"initContainerStatuses": RUNNING["containerStatuses"]},
        {"ephemeralContainerStatuses": RUNNING["containerStatuses"]},
    ],
)
def test_it_leaves_the_statuses_of_containers_as_they_are(agent: Client, path: str, status: Json) -> None:
    with pytest.raises(Refused, match="leaves the statuses of containers as they are"):
        agent.patch(f"{path}/status", {"status": status})


@pytest.mark.parametrize(
    "status",
    [
        {"phase": "Succeeded"},
        {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]},
        {"hostIP": "10.9.9.9", "hostIPs": [{"ip": "10.9.9.9"}]},
        {"message": "x"},
        {"reason": "Evicted"},
        {"startTime": "2026-11-22T00:00:00Z"},
        {"observedGeneration": 7},
        {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "of-somebody-else"}]},
    ],
)
def test_it_leaves_the_rest_of_the_status_as_it_is(agent: Client, path: str, status: Json) -> None:
    with pytest.raises(Refused, match="leaves phase, addresses and the rest"):
        agent.patch(f"{path}/status", {"status": status})


def test_it_changes_nothing_but_statuses(agent: Client, path: str) -> None:
    with pytest.raises(Refused, match="changes nothing of a pod but its status"):
        agent.patch(path, {"spec": {"activeDeadlineSeconds": 1}})


def test_others_are_not_restricted(api: ApiServer, path: str) -> None:
    api.admin.patch(f"{path}/status", {"status": {"phase": "Succeeded"}, "metadata": {"labels": {"new": "1"}}})
