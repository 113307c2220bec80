"""A virtual cluster says which of its troubles are one incident."""

from probelet.policy.incidents import Began, Ended, Incident
from probelet.virtual.cluster import Deadlock, DependencySlow, NodeSlow, ProberStarved, VirtualCluster

from tests.unit.virtual.cluster.manifests import PROBE, workload

PROBES = {kind: {**PROBE, "periodSeconds": 5} for kind in ("readinessProbe", "livenessProbe")}


def cluster(*names: str) -> VirtualCluster:
    found = VirtualCluster([workload(name=name, probes=PROBES) for name in names], nodes=3, seed=1)
    found.dependency("db", "5ms")
    for name in names:
        found.behave(name, asks={"readiness": ("db",)})
    found.run("1m")
    return found


def began(found: VirtualCluster) -> list[Incident]:
    return [each.incident for _, each in found.incidents() if isinstance(each, Began)]


def test_a_dependency_that_three_workloads_ask() -> None:
    found = cluster("a", "b", "c")
    found.fault(DependencySlow("db", "3s", at="70s", lasts="60s"))
    found.run("2m")
    [incident] = began(found)
    assert (incident.kind, incident.thing, incident.counts.pods) == ("shared", "target db", 9)
    [(at, ended)] = [(at, each.incident) for at, each in found.incidents() if isinstance(each, Ended)]
    assert ended.ended_ms is not None
    assert 130 <= ended.ended_ms / 1_000 <= at <= 145
    timeline = found.timeline(1_000)
    assert f"incident {incident.id}  begins: shared target db: 9 of 9 pods that ask db fail" in timeline
    assert f"incident {incident.id}  is over: shared target db: 0 kills" in timeline


def test_without_knowing_what_probes_ask_it_has_no_name() -> None:
    found = cluster("a", "b", "c")
    found.fault(DependencySlow("db", "3s", at="70s"))
    found.run("1m")
    [incident] = [each.incident for _, each in found.incidents(named=False) if isinstance(each, Began)]
    assert (incident.kind, incident.thing) == ("shared", "")


def test_a_slow_node() -> None:
    found = cluster("a", "b", "c")
    found.fault(NodeSlow("node-1", 900.0, at="70s"))
    found.run("1m")
    assert [(each.kind, each.thing) for each in began(found)] == [("node", "node node-1")]


def test_a_starved_prober_kills_for_nothing() -> None:
    found = cluster("a", "b", "c")
    found.fault(ProberStarved("node-1", "3s", at="70s", lasts="1m"))
    found.run("3m")
    [incident] = began(found)
    assert (incident.kind, incident.thing) == ("prober", "node node-1")
    last = found.incidents()[-1][1].incident
    assert last.killed == last.killed_for_nothing == len(found.kills) > 0


def test_one_container() -> None:
    found = cluster("a", "b", "c")
    found.fault(Deadlock("a", replicas=1, at="70s"))
    found.run("1m")
    assert [(each.kind, each.value) for each in began(found)] == [("container", "default/a-v1-0/app")]


def test_a_rollout_that_goes_well_is_none() -> None:
    found = cluster("a", "b", "c")
    for name in ("a", "b", "c"):
        found.rollout(name)
    found.run("5m")
    assert found.incidents() == []
