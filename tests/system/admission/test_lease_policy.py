"""Whose Lease is whose: an agent's token renews that of its own node, and nobody but the controllers takes theirs."""

from typing import Any

import pytest

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Client, Json, Refused
from tests.system.admission.objects import account, allow, client_of, until, user

pytestmark = pytest.mark.e2e

SYSTEM, ELSEWHERE = "probelet-leases", "probelet-leases-elsewhere"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases"
LEADER = "probelet-controller"
RIGHTS = ("coordination.k8s.io", "leases", ["get", "create", "update", "patch", "delete", "deletecollection"])
OF_ITS_NODE = "renews the Lease of its own node and no other"
OF_CONTROLLERS = "only the controllers of probelet write the Lease probelet-controller"
OF_AN_AGENT = "only the agent of a node writes its Lease"


@pytest.fixture(scope="module", autouse=True)
def accounts(api: ApiServer, policy: None) -> None:
    """Accounts with more rights than their roles give: the policy is what is tested."""
    for namespace in (SYSTEM, ELSEWHERE):
        api.admin.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for name in ("probelet-agent", "probelet-controller"):
            account(api, namespace, name, RIGHTS)
    allow(api, "leases-of-another-operator", user("operator"), RIGHTS)

    def is_in_force() -> bool:
        try:
            api.admin.create(f"{LEASES}?dryRun=All", lease(LEADER))
        except Refused as refused:
            return OF_CONTROLLERS in str(refused)
        return False

    until(is_in_force, "the policy of Leases")


@pytest.fixture(scope="module")
def agent(api: ApiServer) -> Client:
    """The agent of node-a."""
    return client_of(api, SYSTEM, "probelet-agent", node="node-a")


@pytest.fixture(scope="module")
def neighbour(api: ApiServer) -> Client:
    """The agent of node-b."""
    return client_of(api, SYSTEM, "probelet-agent", node="node-b")


@pytest.fixture(scope="module")
def controller(api: ApiServer) -> Client:
    return client_of(api, SYSTEM, "probelet-controller")


@pytest.fixture(autouse=True)
def none_left(api: ApiServer) -> None:
    """An administrator deletes every Lease, also those of agents and controllers."""
    api.admin.call("DELETE", LEASES)
    assert api.admin.get(LEASES)["items"] == []


def lease(name: str, holder: str = "me", **metadata: Any) -> Json:
    return {"metadata": {"name": name, **metadata}, "spec": {"holderIdentity": holder, "leaseDurationSeconds": 40}}


def test_an_agent_creates_and_renews_the_lease_of_its_node(agent: Client) -> None:
    made = agent.create(LEASES, lease("probelet-agent-node-a"))
    renewed = {**made, "spec": {**made["spec"], "holderIdentity": "again"}}
    found = agent.call("PUT", f"{LEASES}/probelet-agent-node-a", renewed)
    assert found["spec"]["holderIdentity"] == "again"


@pytest.mark.parametrize("name", ["probelet-agent-node-b", LEADER, "kube-scheduler", "node-a"])
def test_an_agent_creates_no_other_lease(agent: Client, name: str) -> None:
    with pytest.raises(Refused, match=OF_ITS_NODE):
        agent.create(LEASES, lease(name))


def test_an_agent_generates_no_name(agent: Client) -> None:
    with pytest.raises(Refused, match=OF_ITS_NODE):
        agent.create(LEASES, {"metadata": {"generateName": "probelet-agent-node-a"}, "spec": {}})


def test_an_agent_says_of_no_other_agent_that_it_lives(agent: Client, neighbour: Client) -> None:
    made = neighbour.create(LEASES, lease("probelet-agent-node-b"))
    path = f"{LEASES}/probelet-agent-node-b"
    with pytest.raises(Refused, match=OF_ITS_NODE):
        agent.call("PUT", path, {**made, "spec": {**made["spec"], "renewTime": "2036-11-24T00:00:00.000000Z"}})
    for change in ({"spec": {"renewTime": None}}, {"metadata": {"labels": {"a": "b"}}}):
        with pytest.raises(Refused, match=OF_ITS_NODE):
            agent.patch(path, change)


def test_an_agent_takes_no_lead(agent: Client, controller: Client) -> None:
    controller.create(LEASES, lease(LEADER))
    with pytest.raises(Refused, match=OF_ITS_NODE):
        agent.patch(f"{LEASES}/{LEADER}", {"spec": {"holderIdentity": "thief"}})


def test_a_token_that_is_bound_to_no_pod_renews_nothing(api: ApiServer) -> None:
    free = client_of(api, SYSTEM, "probelet-agent")
    with pytest.raises(Refused, match=OF_ITS_NODE):
        free.create(LEASES, lease("probelet-agent-node-a"))


def test_an_agent_by_hand_has_a_token_that_is_bound_to_its_node(api: ApiServer) -> None:
    api.admin.create("/api/v1/nodes", {"metadata": {"name": "node-by-hand"}})
    path = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/probelet-agent/token"
    bound = {"kind": "Node", "apiVersion": "v1", "name": "node-by-hand"}
    made = api.admin.create(path, {"spec": {"boundObjectRef": bound}})
    by_hand = api.admin.as_user(str(made["status"]["token"]))
    by_hand.create(LEASES, lease("probelet-agent-node-by-hand"))
    with pytest.raises(Refused, match=OF_ITS_NODE):
        by_hand.create(LEASES, lease("probelet-agent-node-a"))
    api.admin.delete("/api/v1/nodes/node-by-hand")


def test_the_controllers_create_take_and_release_their_lease(controller: Client) -> None:
    controller.create(LEASES, lease(LEADER, "one"))
    for holder in ("two", ""):
        made = controller.get(f"{LEASES}/{LEADER}")
        spec = {**made["spec"], "holderIdentity": holder}
        assert controller.call("PUT", f"{LEASES}/{LEADER}", {**made, "spec": spec})["spec"] == spec


@pytest.mark.parametrize("name", ["probelet-agent-node-a", "kube-scheduler"])
def test_a_controller_writes_no_other_lease(controller: Client, name: str) -> None:
    with pytest.raises(Refused, match="renews the Lease probelet-controller and no other"):
        controller.create(LEASES, lease(name))


@pytest.mark.parametrize("who", ["operator", "admin"])
def test_nobody_else_writes_them_whatever_his_rights(
    api: ApiServer, agent: Client, controller: Client, who: str
) -> None:
    other = api.admin if who == "admin" else api.user(who)
    for name, said in ((LEADER, OF_CONTROLLERS), ("probelet-agent-node-a", OF_AN_AGENT)):
        with pytest.raises(Refused, match=said):
            other.create(LEASES, lease(name))
    controller.create(LEASES, lease(LEADER))
    agent.create(LEASES, lease("probelet-agent-node-a"))
    for name, said in ((LEADER, OF_CONTROLLERS), ("probelet-agent-node-a", OF_AN_AGENT)):
        with pytest.raises(Refused, match=said):
            other.patch(f"{LEASES}/{name}", {"spec": {"holderIdentity": "thief"}})


@pytest.mark.parametrize("name", ["probelet-agent", "probelet-controller"])
def test_an_account_of_another_namespace_writes_none_of_these(api: ApiServer, name: str) -> None:
    stranger = client_of(api, ELSEWHERE, name, node="node-a")
    own = LEADER if name == LEADER else "probelet-agent-node-a"
    with pytest.raises(Refused, match="only the"):
        stranger.create(LEASES, lease(own))
    stranger.create(LEASES.replace(SYSTEM, ELSEWHERE), lease(own))


def test_whoever_has_the_right_deletes_them_and_changes_what_is_not_the_holder(
    api: ApiServer, agent: Client, controller: Client
) -> None:
    """A collector of garbage lets go of owners, a migration of the storage writes what it has read."""
    controller.create(LEASES, lease(LEADER))
    agent.create(LEASES, lease("probelet-agent-node-a"))
    operator = api.user("operator")
    for name in (LEADER, "probelet-agent-node-a"):
        operator.patch(f"{LEASES}/{name}", {"metadata": {"labels": {"a": "b"}, "finalizers": []}})
        operator.call("PUT", f"{LEASES}/{name}", operator.get(f"{LEASES}/{name}"))
        operator.delete(f"{LEASES}/{name}")


def test_leases_of_others_are_not_restricted(api: ApiServer) -> None:
    operator = api.user("operator")
    for namespace in (SYSTEM, "kube-node-lease"):
        path = LEASES.replace(SYSTEM, namespace)
        operator.create(path, lease("node-a"))
        operator.patch(f"{path}/node-a", {"spec": {"holderIdentity": "again"}})
