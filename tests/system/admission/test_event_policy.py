"""What an agent may say in events: about pods and its own node, in its own name, with the name of that node."""

from typing import Any

import pytest

from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Client, Json, Refused
from tests.system.admission.objects import account, allow, client_of, until, user

pytestmark = pytest.mark.e2e

SYSTEM = "probelet-events"
RIGHTS = ("", "events", ["get", "create", "patch", "update"])
WRITES = "writes events about pods and its own node, with its own name and that of its node"
CHANGES = "changes only the events that the agent of its own node has written"


@pytest.fixture(scope="module")
def agent(api: ApiServer, policy: None) -> Client:
    """The agent of node-a."""
    api.admin.create("/api/v1/namespaces", {"metadata": {"name": SYSTEM}})
    account(api, SYSTEM, "probelet-agent", RIGHTS)
    allow(api, "events-of-a-kubelet", user("operator"), RIGHTS)
    client = client_of(api, SYSTEM, "probelet-agent", node="node-a")

    def is_in_force() -> bool:
        try:
            client.create("/api/v1/namespaces/default/events?dryRun=All", event("canary", "default", host="node-b"))
        except Refused as refused:
            return WRITES in str(refused)
        return False

    until(is_in_force, "the policy of events")
    return client


def event(name: str, namespace: str, *, host: str = "node-a", component: str = "probelet-agent", **more: Any) -> Json:
    """An event as the agent's writer makes it."""
    return {
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": "web", "uid": "u"},
        "type": "Warning",
        "reason": "Unhealthy",
        "message": "Liveness probe failed: HTTP probe failed with statuscode: 503",
        "source": {"component": component, "host": host},
        "reportingComponent": component,
        "reportingInstance": host,
        "firstTimestamp": "2026-11-24T00:00:00Z",
        "count": 1,
        **more,
    }


def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/events"


def test_it_says_what_happened_to_a_pod_and_that_it_happened_again(agent: Client, namespace: str) -> None:
    agent.create(path(namespace), event("one", namespace))
    changed = {"count": 2, "lastTimestamp": "2026-11-24T00:01:00Z", "message": "again"}
    assert agent.patch(f"{path(namespace)}/one", changed)["count"] == 2


def test_it_says_what_happened_to_its_own_node(agent: Client, namespace: str) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "name": "node-a", "uid": "node-a"}
    agent.create(path("default"), event(f"of-{namespace}", "default", involvedObject=node, reason="IncidentBegan"))


@pytest.mark.parametrize(
    "change",
    [
        {"host": "node-b"},
        {"component": "kubelet"},
        {"reportingComponent": "kubelet"},
        {"reportingInstance": "node-b"},
        {"source": {}},
        {"involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "node-b"}},
        {"involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "node-a"}, "host": "node-b"},
        {"involvedObject": {"apiVersion": "v1", "kind": "Node"}},
        {"involvedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    ],
)
def test_it_speaks_in_no_other_name_and_of_nothing_else(agent: Client, namespace: str, change: Json) -> None:
    is_of_node = change.get("involvedObject", {}).get("kind") == "Node"
    # An event about what is in no namespace is in this one.
    place = "default" if is_of_node else namespace
    body = event("one", place, **change)
    if not is_of_node:
        body["involvedObject"]["namespace"] = place
    with pytest.raises(Refused, match=WRITES):
        agent.create(path(place), body)


@pytest.mark.parametrize("said", [{"host": "node-b"}, {"component": "kubelet"}])
def test_it_changes_no_event_of_another(api: ApiServer, agent: Client, namespace: str, said: Json) -> None:
    api.user("operator").create(path(namespace), event("of-another", namespace, **said))
    everything = event("of-another", namespace)
    for change in ({"message": "all is well"}, {key: everything[key] for key in everything if key != "metadata"}):
        with pytest.raises(Refused, match=f"{CHANGES}|{WRITES}"):
            agent.patch(f"{path(namespace)}/of-another", change)


def test_an_event_stays_about_its_pod(agent: Client, namespace: str) -> None:
    agent.create(path(namespace), event("one", namespace))
    with pytest.raises(Refused, match=CHANGES):
        agent.patch(f"{path(namespace)}/one", {"involvedObject": {"name": "another"}})


def test_a_token_that_is_bound_to_no_pod_says_nothing(api: ApiServer, agent: Client, namespace: str) -> None:
    free = client_of(api, SYSTEM, "probelet-agent")
    for host in ("node-a", ""):
        with pytest.raises(Refused, match=WRITES):
            free.create(path(namespace), event("one", namespace, host=host))


def test_others_are_not_restricted(api: ApiServer, agent: Client, namespace: str) -> None:
    api.user("operator").create(path(namespace), event("one", namespace, component="kubelet", host="node-b"))
