"""Liveness kills that wait in a virtual cluster, by the code that nodes and agents use."""

from typing import Any

import pytest
from probelet.errors import ClusterError
from probelet.spec.annotation.hold_kills import ANNOTATION, HoldChoice
from probelet.virtual.cluster import (
    Deadlock,
    DependencyDown,
    DependencySlow,
    ProberRestart,
    ProberStarved,
    VirtualCluster,
)

from tests.unit.virtual.cluster.manifests import PROBE, workload

PROBES = {kind: {**PROBE, "periodSeconds": 10, "failureThreshold": 3} for kind in ("readinessProbe", "livenessProbe")}
NAMES = ("a", "b", "c", "d")


def cluster(hold: HoldChoice, *, annotation: str = "", most: str = "5m", **spec: Any) -> VirtualCluster:
    """Four workloads of three replicas on one node, of which three ask a dependency with all their probes."""
    manifests = [workload(name=name, probes=PROBES) for name in NAMES]
    if annotation:
        for manifest in manifests:
            manifest["spec"]["template"]["metadata"].setdefault("annotations", {})[ANNOTATION] = annotation
    found = VirtualCluster(manifests, seed=1, hold_kills=hold, hold_kills_for=most)
    found.dependency("db", "5ms")
    for name in NAMES[:3]:
        found.behave(name, startup="5s", asks={"readiness": ("db",), "liveness": ("db",)})
    found.run("1m")
    return found


def held(found: VirtualCluster) -> list[str]:
    return [event.pod for event in found.events if event.reason == "KillHeld"]


def test_off_is_a_kubelet() -> None:
    found = cluster("off")
    found.fault(DependencySlow("db", "3s", at="70s", lasts="2m"))
    found.run("10m")
    assert held(found) == []
    assert len(found.kills) >= 9 * 3


def test_few_containers_are_trials_and_the_others_outlive_a_shared_fault() -> None:
    found = cluster("shared")
    found.fault(DependencySlow("db", "3s", at="70s", lasts="2m"))
    found.run("10m")
    assert len(found.kills) == 3, "trials, ever later"
    assert len(set(held(found))) == 9, "a trial fails again and waits too"
    assert all(found.ready(name) == 3 for name in NAMES)


def test_an_annotation_decides_for_its_pods() -> None:
    by_pod = cluster("off", annotation="shared")
    by_node = cluster("shared", annotation="off")
    for found in (by_pod, by_node):
        found.fault(DependencySlow("db", "3s", at="70s", lasts="2m"))
        found.run("10m")
    assert (len(by_pod.kills), len(set(held(by_pod)))) == (3, 9)
    assert (len(by_node.kills) >= 27, held(by_node)) == (True, [])


def test_an_annotation_that_says_nothing_known_holds_nothing() -> None:
    with pytest.raises(
        Exception, match=r"metadata.annotations\[probelet.dev/hold-kills\].*supported values: off, prober"
    ):
        cluster("off", annotation="sometimes")


def test_no_kill_waits_longer_than_the_bound() -> None:
    found = cluster("shared", most="90s")
    found.fault(DependencyDown("db", at="70s"))
    found.run("10m")
    begun: dict[str, float] = {}
    for at, pod, what in sorted(
        [(event.at, event.pod, "held") for event in found.events if event.reason == "KillHeld"]
        + [(kill.at, kill.pod, "killed") for kill in found.kills]
    ):
        if what == "held":
            begun[pod] = at
        else:
            assert at <= begun.pop(pod, at) + 90.001
    assert all(found.now <= at + 90 for at in begun.values()), "nothing is held for ever"
    assert len(found.kills) > 9


def test_a_restart_that_helps_is_followed_by_the_others() -> None:
    found = cluster("shared", most="1h")
    found.fault(DependencyDown("db", at="70s", lasts="20s"), *(Deadlock(name, at="80s") for name in NAMES[:3]))
    found.run("8m")
    assert len(found.kills) == 9, "each container once"
    assert all(found.ready(name) == 3 for name in NAMES)
    first, *others = sorted(kill.at for kill in found.kills)
    assert first + 5 < others[0], "the trial starts and answers first"
    assert others[-1] - first < 240


def test_one_container_alone_is_killed_as_ever() -> None:
    found = cluster("shared")
    found.fault(Deadlock("a", at="70s", replicas=1))
    found.run("5m")
    assert (len(found.kills), held(found)) == (1, [])


@pytest.mark.parametrize("choice", ["prober", "shared"])
def test_kills_wait_while_the_prober_is_late(choice: HoldChoice) -> None:
    found = cluster(choice)
    found.fault(ProberStarved("node-0", "3s", at="70s", lasts="3m"))
    found.run("10m")
    assert found.kills == []
    assert len(set(held(found))) == 12


def test_a_shared_fault_is_none_of_the_prober() -> None:
    found = cluster("prober")
    found.fault(DependencySlow("db", "3s", at="70s", lasts="2m"))
    found.run("5m")
    assert held(found) == []
    assert len(found.kills) >= 18


def test_a_prober_that_was_restarted_knows_no_incident_and_kills() -> None:
    found = cluster("shared", most="1h")
    found.fault(DependencyDown("db", at="70s"), ProberRestart(at="3m"))
    found.run("100s")
    assert len(found.kills) == 2
    found.run("4m")
    assert len({kill.pod for kill in found.kills if kill.at > 180}) == 9


def test_a_pod_that_is_deleted_while_its_kill_waits_ends() -> None:
    found = cluster("shared", most="1h")
    found.fault(DependencyDown("db", at="70s"))
    found.run("2m")
    manifest = workload(name="a", probes=PROBES)
    manifest["spec"]["replicas"] = 0
    found.apply(manifest)
    found.run("2m")
    assert [pod.spans[-1].state for pod in found.history.pods if pod.workload == "a"] == ["gone"] * 3


@pytest.mark.parametrize(("choice", "most", "text"), [
    ("maybe", "5m", "hold_kills: 'maybe': must be one of off, prober, shared"),
    ("shared", "0s", "hold_kills_for: '0s': must be more than 0"),
    ("shared", "soon", "hold_kills_for: time: invalid duration \"soon\""),
])  # fmt: skip
def test_impossible_settings(choice: Any, most: str, text: str) -> None:
    with pytest.raises(ClusterError, match=text):
        VirtualCluster(workload(name="a"), hold_kills=choice, hold_kills_for=most)
