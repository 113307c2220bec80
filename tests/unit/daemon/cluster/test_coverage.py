"""Which taken-over pods lack an agent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.base.exposition.timestamp import rfc3339
from probelet.beside.pods.missed import missed_pod
from probelet.beside.takeover.lease import SKEW_MS, AgentLease, agent_lease
from probelet.beside.takeover.taken_pod import TakenPod, taken_pod
from probelet.daemon.cluster.coverage import cluster_document

from tests.unit.agent.made_pod import EXEC, made_pod

NOW = 1_800_000_000_000


def lease(node: str, ago_s: float = 0, **spec: Any) -> dict[str, Any]:
    renewed = rfc3339(round(NOW - ago_s * 1000))
    return {
        "metadata": {"name": f"probelet-agent-{node}", "namespace": "probelet-system"},
        "spec": {"renewTime": renewed, "leaseDurationSeconds": 40, **spec},
    }


def pod(node: str, name: str = "web") -> dict[str, Any]:
    made = made_pod({"app": {"readinessProbe": EXEC}}, name=name)
    return {**made, "spec": {**made["spec"], "nodeName": node}}


def document(pods: list[dict[str, Any]], leases: list[dict[str, Any]]) -> dict[str, Any]:
    missed = (missed_pod(each, "probelet-system") for each in pods)
    return dict(cluster_document(map(taken_pod, pods), missed, map(agent_lease, leases), NOW))


def test_pods_on_nodes_without_a_live_lease_are_listed() -> None:
    found = document([pod("a"), pod("b", "x"), pod("c", "y")], [lease("a", 10), lease("b", 200), lease("idle")])
    assert [(node["node"], node["agent"], node["pods"]) for node in found["nodes"]] == [
        ("a", "live", 1),
        ("b", "expired", 1),
        ("c", "none", 1),
        ("idle", "live", 0),
    ]
    assert [(row["node"], row["name"]) for row in found["uncovered"]] == [("b", "x"), ("c", "y")]


def test_pods_that_asked_and_were_missed_are_listed() -> None:
    asks = pod("b", "late")
    asks["metadata"] |= {"labels": {"probelet.dev/managed": "true"}, "annotations": {}}
    asks["spec"]["containers"] = [{"name": "app", "image": "i", "readinessProbe": EXEC}]
    found = document([asks, pod("a")], [lease("a"), lease("b")])
    assert [(row["node"], row["namespace"], row["name"]) for row in found["native"]] == [("b", "default", "late")]
    assert "label probelet.dev/managed" in found["native"][0]["why"]
    assert found["uncovered"] == []
    for over in ({"phase": "Succeeded"}, {"phase": "Failed"}):
        assert document([{**asks, "status": over}], [])["native"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"name": "native", "namespace": "default"}},
        {"spec": {"containers": []}},
        {"status": {"phase": "Succeeded"}},
    ],
)
def test_a_pod_that_is_native_or_unbound_or_over_does_not_count(change: dict[str, Any]) -> None:
    assert taken_pod({**pod("a"), **change}) is None


def test_a_lease_of_somebody_else_is_no_agents() -> None:
    assert agent_lease({"metadata": {"name": "kube-scheduler"}}) is None
    never = agent_lease({"metadata": {"name": "probelet-agent-a"}})
    assert never is not None
    assert not never.is_live(NOW)


def test_a_clock_that_is_behind_the_nodes_finds_no_agent_missing() -> None:
    found = agent_lease(lease("a", -3600))
    assert found is not None
    assert found.is_live(NOW)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 200_000)), max_size=3),
    st.lists(st.sampled_from("abcd"), max_size=6),
)
def test_a_pod_is_uncovered_if_and_only_if_its_node_has_no_lease_in_time(
    leases: list[tuple[str, int]], nodes: list[str]
) -> None:
    known = dict(leases)
    pods = [TakenPod("default", f"p{index}", f"uid-{index}", node, False) for index, node in enumerate(nodes)]
    found = cluster_document(pods, [], [AgentLease(node, NOW - ago, 40_000) for node, ago in known.items()], NOW)
    expected = {pod.name for pod in pods if known.get(pod.node, 10**9) > 40_000 + SKEW_MS}
    assert {row["name"] for row in found["uncovered"]} == expected
    assert sum(row["pods"] for row in found["nodes"]) == len(pods)
