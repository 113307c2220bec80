"""What an agent may write of enhanced liveness: statuses of its own node's objects (S-4)."""

import pytest

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Client, Json, Refused
from tests.system.admission.objects import KRUISE, allow, pod, pods_of, until

pytestmark = pytest.mark.e2e

SYSTEM = "probelet-requests"
NAME = "probelet-agent"
ACCOUNTS = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts"
PROBES = f"{KRUISE}/nodepodprobes"
OWN = "writes the status only of its own node's"
STATES = {"phase": "Recreating", "containerRecreateStates": [{"name": "app", "phase": "Recreating", "isKilled": True}]}


@pytest.fixture(scope="module")
def agent(api: ApiServer, kinds: None, policy: None) -> Client:
    """The agent of node-a, with more rights than its role has: the policy is what is tested."""
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    api.admin.create(ACCOUNTS, {"metadata": {"name": NAME}})
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": SYSTEM}
    every = ["get", "create", "update", "patch", "delete"]
    rights = [
        (f"{kind}{of}", every) for kind in ("nodepodprobes", "containerrecreaterequests") for of in ("", "/status")
    ]
    allow(api, "requests", subject, *(("apps.kruise.io", resource, verbs) for resource, verbs in rights))
    body = pod("agent-of-requests")
    body["spec"]["serviceAccountName"] = NAME
    made = api.admin.create(pods_of(SYSTEM), body)
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "agent-of-requests", "uid": made["metadata"]["uid"]}
    asked = {"spec": {"boundObjectRef": reference}}
    client = api.admin.as_user(str(api.admin.create(f"{ACCOUNTS}/{NAME}/token", asked)["status"]["token"]))
    api.admin.create(PROBES, probes("canary"))

    def is_in_force() -> bool:
        try:
            client.patch(f"{PROBES}/canary/status", {"status": {}})
        except Refused as refused:
            return OWN in str(refused)
        return False

    until(is_in_force, "the policy of enhanced liveness")
    return client


def probes(name: str) -> Json:
    """A NodePodProbe."""
    made = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "NodePodProbe", "metadata": {"name": name}}
    return {**made, "spec": {}}


def request(api: ApiServer, namespace: str, name: str, labels: Json) -> str:
    """The path of a request."""
    path = f"{KRUISE}/namespaces/{namespace}/containerrecreaterequests"
    spec = {"podName": "web", "containers": [{"name": "app"}]}
    made = {"metadata": {"name": name, "labels": labels}, "spec": spec}
    api.admin.create(path, {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "ContainerRecreateRequest", **made})
    return f"{path}/{name}"


def test_s4_it_writes_the_status_of_its_nodes_requests(api: ApiServer, agent: Client, namespace: str) -> None:
    path = request(api, namespace, "own", {"crr.apps.kruise.io/node-name": "node-a"})
    found = agent.patch(f"{path}/status", {"metadata": {"labels": {"x": "y"}}, "status": STATES})
    assert found["status"] == STATES
    assert "x" not in found["metadata"]["labels"], "a status patch changes no metadata of these kinds"


@pytest.mark.parametrize("labels", [{"crr.apps.kruise.io/node-name": "node-b"}, {}])
def test_s4_it_leaves_requests_of_other_nodes(api: ApiServer, agent: Client, namespace: str, labels: Json) -> None:
    path = request(api, namespace, "other", labels)
    with pytest.raises(Refused, match=OWN):
        agent.patch(f"{path}/status", {"status": STATES})


def test_s4_it_writes_the_status_of_its_nodes_probes_and_of_no_others(api: ApiServer, agent: Client) -> None:
    for name in ("node-a", "node-b"):
        api.admin.create(PROBES, probes(name))
    agent.patch(f"{PROBES}/node-a/status", {"status": {"podProbeStatuses": []}})
    with pytest.raises(Refused, match=OWN):
        agent.patch(f"{PROBES}/node-b/status", {"status": {"podProbeStatuses": []}})


def test_s4_it_changes_nothing_but_statuses(api: ApiServer, agent: Client, namespace: str) -> None:
    path = request(api, namespace, "own", {"crr.apps.kruise.io/node-name": "node-a"})
    for change in (
        lambda: agent.patch(path, {"metadata": {"labels": {"x": "y"}}}),
        lambda: agent.delete(path),
        lambda: agent.create(PROBES, probes("node-c")),
    ):
        with pytest.raises(Refused, match="changes nothing of NodePodProbes and ContainerRecreateRequests but"):
            change()


def test_s4_a_token_that_is_bound_to_no_pod_writes_nothing(api: ApiServer, agent: Client, namespace: str) -> None:
    path = request(api, namespace, "own", {"crr.apps.kruise.io/node-name": "node-a"})
    free = str(api.admin.create(f"{ACCOUNTS}/{NAME}/token", {"spec": {}})["status"]["token"])
    with pytest.raises(Refused, match=OWN):
        api.admin.as_user(free).patch(f"{path}/status", {"status": STATES})


def test_others_are_not_restricted(api: ApiServer, kinds: None, policy: None, namespace: str) -> None:
    path = request(api, namespace, "any", {"crr.apps.kruise.io/node-name": "node-b"})
    api.admin.patch(f"{path}/status", {"status": STATES})
    api.admin.patch(path, {"metadata": {"labels": {"x": "y"}}})
