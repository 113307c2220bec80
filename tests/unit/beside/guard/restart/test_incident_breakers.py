"""Breakers where the detector of incidents looks on: the kind of the incident decides, not a share alone."""

from typing import Any, Final, get_args

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as property_of
from hypothesis import strategies as some
from probelet.beside.guard.restart.protocol.inputs import IncidentChanged
from probelet.policy.incidents import Incident, Kind

from tests.unit.beside.guard.restart.rig import FAST, Rig, TestPod

OPEN: Final = {**FAST, "queue.perWorkload": "1000", "workload.maxInFlight": "100%"}
APART: Final = {**OPEN, "breaker.minPods": "1000"}
"""No breaker of a workload by its share."""
NODE: Final = Incident("18f3a-1", "node", 0, shared="node", value="node1", evidence="2 of 5 pods on node1 fail")
ROLLOUT: Final = Incident("18f3a-2", "workload", 0, shared="rollout", value="default/Deployment/w0")
DATABASE: Final = Incident("18f3a-3", "shared", 0, shared="target", value="db:5432", evidence="4 of 4 that ask it fail")
NAMELESS: Final = Incident("18f3a-4", "shared", 0)
PROBER: Final = Incident("18f3a-5", "prober", 0, shared="node", value="node1")


def alone(pod: TestPod) -> Incident:
    return Incident(f"alone-{pod.name}", "container", 0, shared="container", value=f"default/{pod.name}/app")


def played(
    config: dict[str, str] | None = None, pods: int = 5, *, nodes: int = 1, **options: Any
) -> tuple[Rig, list[TestPod]]:
    """Pods of as many workloads, whose probes are well."""
    made = Rig(APART if config is None else config, **options)
    for number in range(pods):
        made.workload(f"w{number}", 1)
    found = [made.pod(f"a-{number}", node=f"node{1 + number % nodes}", workload=f"w{number}") for number in range(pods)]
    made.sync()
    made.run(5)
    made.heartbeats(3000)
    return made, found


def strike(made: Rig, incident: Incident | None, *pods: TestPod) -> None:
    """These pods fail, and the detector says why."""
    for pod in pods:
        if incident is not None:
            made.incidents[pod.uid] = incident
    made.fail(*pods)


@pytest.mark.parametrize("incident", [NODE, PROBER], ids=["node", "prober"])
def test_an_incident_of_the_node_holds_its_pods_back_below_the_share(incident: Incident) -> None:
    made, pods = played()
    strike(made, incident, *pods[:2])
    strike(made, alone(pods[2]), pods[2])
    made.run(20)
    assert made.created_pods == ["a-2"]
    [event] = made.events("ELPBreakerOpen")
    assert (event.regarding.kind, event.regarding.name) == ("Node", "node1")
    what = {"node": "node node1", "prober": "prober node node1"}[incident.kind]
    text = f"a restart would not mend incident {incident.id} ({what}): {incident.evidence}"
    assert event.message == made.last("a-0").message == text
    assert made.guard.gauges(made.now).open_nodes == 1


def test_a_breaker_that_a_share_has_opened_says_so_again_once_the_incident_has_a_name() -> None:
    made, pods = played()
    strike(made, None, *pods)
    made.run(10)
    [event] = made.events("ELPBreakerOpen")
    assert event.message == "5 of 5 probed pods of node node1 fail at once"
    made.incidents |= {pod.uid: NODE for pod in pods}
    made.run(60)
    [_, event] = made.events("ELPBreakerOpen")
    assert NODE.id in event.message
    assert [NODE.id in event.message for event in made.events("BreakerOpen")] == [False] * 5 + [True] * 5


def test_the_whole_node_fails_for_a_rollout_and_its_breaker_stays_shut() -> None:
    made, pods = played()
    strike(made, ROLLOUT, *pods)
    made.run(20)
    assert sorted(made.created_pods) == [pod.name for pod in pods]
    assert "BreakerOpen" not in made.reasons()


def test_without_an_incident_the_share_of_the_node_decides() -> None:
    made, pods = played()
    strike(made, None, *pods)
    made.run(200)
    assert made.created_pods == []
    assert made.last("a-0").message == "5 of 5 probed pods of node node1 fail at once"


def test_switched_off_the_share_decides_whatever_the_incident() -> None:
    made, pods = played({**APART, "breaker.incidents": "false"})
    strike(made, ROLLOUT, *pods)
    made.run(200)
    assert made.created_pods == []
    made.configure(APART)
    # The breaker was open, so each gets the time for one more attempt.
    made.run(16.1)
    assert len(made.created_pods) == 5


def test_a_node_without_a_breaker_has_none_by_an_incident_either() -> None:
    made, pods = played({**APART, "nodeBreaker.minPods": "6"})
    strike(made, NODE, *pods)
    made.run(20)
    assert len(made.created_pods) == 5


def test_a_failure_waits_for_probes_that_were_not_made_since() -> None:
    """One container alone, says the detector, but the others were not probed yet."""
    made = Rig(APART)
    fast = made.pod("fast", workload="fast", probe={"periodSeconds": 3})
    for number in range(4):
        made.pod(f"slow-{number}", workload=f"slow-{number}", probe={"periodSeconds": 30})
    made.sync()
    made.run(5)
    strike(made, alone(fast), fast)
    made.run(29.9)
    assert made.creates == []
    assert made.last("fast").message.endswith("not probed since it began: 4 more")
    made.run(0.2)
    assert made.created_pods == ["fast"]


# Something shared.


def test_of_all_pods_that_share_something_one_is_restarted_at_a_time() -> None:
    made, pods = played(pods=12, nodes=4)
    strike(made, DATABASE, *pods)
    most = 0
    for _ in range(100):
        made.run(1)
        most = max(most, made.in_flight)
    assert most == 1
    assert 3 <= len(made.creates) <= 6, "22 s each, and the next one as soon as it is over"
    first, other = made.created_pods[0], next(pod for pod in pods if pod.name not in made.created_pods)
    text = "a restart would not mend incident 18f3a-3 (shared target db:5432)"
    refused = [each.message for each in made.events("BreakerOpen") if each.regarding.name == other.name]
    assert refused == [
        f"container app: {text}, and pod default/{first} of it is restarted first: 4 of 4 that ask it fail"
    ]
    event = next(each for each in made.events("ELPBreakerOpen") if each.regarding.name == other.workload)
    assert event.regarding.kind == "StatefulSet"
    assert made.guard.gauges(made.now).open_workloads > 6


@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "left"])
@pytest.mark.parametrize("seconds", [4, 25])
def test_pods_that_fail_again_and_again_take_turns(seconds: int, keeps: bool) -> None:
    """Whatever the seed. A pod that was restarted may have left the incident when its turn is over (``keeps``)."""
    for seed in range(4):
        made, pods = played({**APART, "backoff.max": "10s"}, 3, nodes=3, restart_seconds=seconds, seed=seed)
        made.bad.update(pod.name for pod in pods)
        strike(made, DATABASE, *pods)
        most = 0
        for _ in range(200):
            made.run(1)
            for pod in pods:
                if keeps or pod.probes["app"].state == "Failed":
                    made.incidents[pod.uid] = DATABASE
                else:
                    made.incidents.pop(pod.uid, None)
            most = max(most, made.in_flight)
        assert most == 1
        names = made.created_pods
        assert len(names) >= 200 // (seconds + 10)
        assert all(len(set(names[at : at + 3])) == 3 for at in range(len(names) - 2)), f"seed {seed}: {names}"


@pytest.mark.parametrize(("action", "restarts"), [("block", 0), ("off", 12)])
def test_the_action_of_breakers_counts_for_what_is_shared(action: str, restarts: int) -> None:
    made, pods = played({**APART, "breaker.action": action}, 12, nodes=4)
    strike(made, DATABASE, *pods)
    made.run(20)
    assert len(made.creates) == restarts


def test_something_shared_that_has_no_name_may_be_the_node() -> None:
    made, pods = played({**APART, "breaker.action": "off"})
    strike(made, NAMELESS, *pods)
    made.run(200)
    assert made.creates == []
    named, pods = played({**APART, "breaker.action": "off"})
    strike(named, DATABASE, *pods)
    named.run(20)
    assert len(named.creates) == 5


@pytest.mark.parametrize("incident", [NODE, DATABASE], ids=["node", "shared"])
@pytest.mark.parametrize("becomes", ["over", "another"])
def test_what_waits_for_an_incident_is_judged_again_as_soon_as_it_is_over(incident: Incident, becomes: str) -> None:
    made, pods = played({**APART, "breaker.action": "block"})
    strike(made, incident, *pods[:3])
    made.run(31)
    assert made.creates == []
    for pod in pods[:3]:
        if becomes == "over":
            del made.incidents[pod.uid]
        else:
            made.incidents[pod.uid] = alone(pod)
    made.give(IncidentChanged(incident.id))
    held = 0 if incident is DATABASE else 16
    made.run(held)
    assert len(made.creates) == 3, "behind a broken network each gets the time for one more attempt first"


# Whatever happens.

PODS: Final = 6
OWN: Final = some.sampled_from(["container", "rollout", "none"])


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@property_of(some.lists(OWN, min_size=PODS, max_size=PODS), some.sets(some.integers(0, PODS - 1), min_size=1))
def test_an_incident_of_one_container_or_of_a_rollout_never_opens_a_breaker(causes: list[str], bad: set[int]) -> None:
    made, pods = played(pods=PODS)
    strike(made, None, *(pods[number] for number in bad if causes[number] == "none"))
    for number in bad:
        if causes[number] == "rollout":
            strike(made, ROLLOUT, pods[number])
        elif causes[number] == "container":
            strike(made, alone(pods[number]), pods[number])
    made.run(20)
    decided = {pods[number].name for number in bad if causes[number] != "none"}
    assert decided <= set(made.created_pods)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@property_of(some.sampled_from(get_args(Kind)), some.booleans(), some.integers(1, PODS))
def test_a_breaker_that_names_an_incident_names_one_that_a_restart_does_not_mend(
    kind: Kind, has_name: bool, bad: int
) -> None:
    made, pods = played(pods=PODS)
    incident = Incident("18f3a-9", kind, 0, shared="x" if has_name else "", value="y" if has_name else "")
    strike(made, incident, *pods[:bad])
    made.run(20)
    texts = [made.last(pod.name).message for pod in pods[:bad] if made.last(pod.name).reason == "BreakerOpen"]
    assert not any("18f3a-9" in text for text in texts) or kind in ("node", "prober", "shared")
    if kind in ("node", "prober"):
        assert len(texts) == bad, "none of it is restarted"
