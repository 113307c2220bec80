"""Requests to recreate containers in a virtual cluster: the nodes carry them out by the rules of the agent, and by
the manager's rules a request that nobody carries out ends."""

from typing import Any

import pytest
from probelet.beside.guard.recreate.validate import Injected, check, check_pod, inject
from probelet.virtual.cluster import Behaviour, Deadlock, Evict, Partition, ProberRestart, VirtualCluster
from probelet.virtual.cluster.guarded.objects import requested_pod

from tests.unit.virtual.cluster.test_guard import FAST, deployment

GOOD = Behaviour(startup="5s", latency="20ms", stop="3s")
HOOK = {"preStop": {"sleep": {"seconds": 7}}}


def cluster(pods: int = 1, *, nodes: int = 1, settings: dict[str, str] | None = None, **fields: Any) -> VirtualCluster:
    made = VirtualCluster(deployment("web", pods, **fields), nodes=nodes, seed=1)
    made.behave("web", GOOD)
    made.guard(FAST | (settings or {}))
    made.run("1m")
    return made


def ask(
    made: VirtualCluster, name: str = "by-hand", *, containers: tuple[str, ...] = ("app",), **strategy: Any
) -> None:
    """A person's request for containers of the first pod, through the webhook's rules."""
    assert made._guard is not None
    pod = requested_pod(next(pod for pod in made._state.pods.values() if not pod.is_gone))
    spec = {"podName": pod.name, "containers": [{"name": each} for each in containers], "strategy": strategy}
    body: dict[str, Any] = {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
    assert (check(body), check_pod(pod.name, pod)) == (None, None)
    found = inject(body, pod, {})
    assert isinstance(found, Injected), found
    meta = {**body["metadata"], "labels": found.labels}
    made._guard.requests.create({"metadata": meta, "spec": {**found.spec, "activeDeadlineSeconds": 300}})


def status(made: VirtualCluster, name: str = "by-hand") -> dict[str, Any]:
    assert made._guard is not None
    found: dict[str, Any] = made._guard.requests.objects["default", name]["status"]
    return found


def moments(made: VirtualCluster, reason: str) -> list[float]:
    return [event.at for event in made.events if event.reason == reason]


def test_a_persons_request_restarts_a_healthy_container_and_is_no_kill_of_a_probe() -> None:
    made = cluster()
    ask(made)
    made.run("20s")
    assert made.restarts("web") == 1
    assert made.kills == []
    assert status(made)["phase"] == "Completed"
    assert status(made)["containerRecreateStates"] == [{"name": "app", "phase": "Succeeded", "isKilled": True}]
    assert [event.message for event in made.events if event.reason == "Killing"] == [
        "Stopping container app by ContainerRecreateRequest by-hand"
    ]


def test_it_is_completed_once_the_new_container_has_run_for_min_started_seconds() -> None:
    made = cluster()
    ask(made, minStartedSeconds=40)
    made.run("44s")
    assert (made.restarts("web"), made.ready("web")) == (1, 1)
    assert (status(made)["phase"], status(made)["containerRecreateStates"][0]["phase"]) == ("Recreating", "Recreating")
    made.run("2s")
    assert status(made)["phase"] == "Completed"


@pytest.mark.parametrize(("grace", "took"), [(30, 10), (9, 9), (5, 7), (0, 2)])
def test_a_pre_stop_hook_runs_within_the_grace_before_the_stop(grace: int, took: int) -> None:
    """The hook takes 7 s and the program 3 s. A hook that outlasts the grace leaves the minimum of 2 s for the stop.
    Without any grace there is no hook."""
    made = cluster(lifecycle=HOOK)
    ask(made, terminationGracePeriodSeconds=grace)
    made.run("30s")
    [killing] = moments(made, "Killing")
    assert [exited.at - killing for exited in made.exits] == [pytest.approx(took)]
    assert status(made)["phase"] == "Completed"


@pytest.mark.parametrize("ordered", [True, False])
def test_containers_follow_one_another_and_wait_for_each_other_only_if_that_is_asked_for(ordered: bool) -> None:
    made = VirtualCluster(two_containers(), nodes=1, seed=1)
    made.behave("web", GOOD)
    made.guard(FAST)
    made.run("1m")
    ask(made, containers=("app", "side"), orderedRecreate=ordered, minStartedSeconds=20)
    made.run("1m")
    first, second = moments(made, "Killing")
    # The program takes 3 s to end.
    assert second - first == pytest.approx(24 if ordered else 3, abs=1.1)
    assert [each["phase"] for each in status(made)["containerRecreateStates"]] == ["Succeeded", "Succeeded"]


def two_containers() -> dict[str, Any]:
    made = deployment("web", 1)
    containers = made["spec"]["template"]["spec"]["containers"]
    containers.append({"name": "side", "image": "x"})
    return made


def test_a_second_request_for_the_pod_waits_for_the_first_one() -> None:
    made = cluster()
    ask(made, "first", minStartedSeconds=20)
    ask(made, "second")
    made.run("10s")
    assert (status(made, "first")["phase"], status(made, "second")["phase"]) == ("Recreating", "Pending")
    made.run("30s")
    # The second one means an instance that is gone, so it kills nothing.
    assert (status(made, "first")["phase"], status(made, "second")["phase"]) == ("Completed", "Completed")
    assert made.restarts("web") == 1


def test_a_request_that_no_agent_begins_is_ended_after_a_minute_and_made_again() -> None:
    made = cluster()
    made.fault(Deadlock("web/app", at="1m"))
    while made.decisions.get("Restarting", 0) == 0:
        made.run("1s")
    # The request has been made in the last second, and the agent of the node stops before it learns of it.
    made.fault(ProberRestart("node-0", at=f"{made.now:g}s", down="80s"))
    made.run("62s")
    assert [event.message.partition(": ")[2] for event in made.events if event.reason == "ELPRestartFailed"] == [
        "daemon has not responded for a long time"
    ]
    assert (made.kills, made.restarts("web")) == ([], 0)
    made.run("2m")
    assert made.decisions["Restarting"] == 2
    assert (len(made.kills), made.restarts("web"), made.ready("web")) == (1, 1, 1)


def test_a_request_whose_pod_goes_is_ended() -> None:
    made = cluster(lifecycle=HOOK)
    ask(made)
    made.run("2s")
    made.fault(Evict("web"))
    made.run("2s")
    assert (status(made)["phase"], status(made)["message"]) == ("Completed", "pod has gone")


def test_a_request_goes_with_its_time_to_live() -> None:
    made = cluster(settings={"crr.ttlSeconds": "60"})
    made.fault(Deadlock("web/app", at="1m"))
    made.run("90s")
    assert made._guard is not None
    assert (made.restarts("web"), len(made._guard.requests.objects)) == (1, 1)
    made.run("90s")
    assert made._guard.requests.objects == {}


def test_a_node_that_is_cut_off_publishes_its_failures_when_it_is_back() -> None:
    made = cluster(pods=4, nodes=2, settings={"nodeBreaker.ratio": "1"})
    made.fault(Partition("node-0", at="61s", lasts="3m"), Deadlock("web/app", replicas="100%", at="62s"))
    made.run("3m")
    assert {pod.node for pod in made._state.pods.values() if pod.kills} == {"node-1"}
    made.run("2m")
    assert {pod.node for pod in made._state.pods.values() if pod.kills} == {"node-0", "node-1"}


def test_a_failure_that_goes_on_is_published_about_every_three_minutes() -> None:
    """It is held back by the switch, and judged again with each version that the node writes."""
    made = cluster(settings={"enabled": "false"})
    made.fault(Deadlock("web/app", at="1m"))
    made.run("40s")
    before = made.decisions["SwitchedOff"]
    made.run("10m")
    assert 3 <= made.decisions["SwitchedOff"] - before <= 4
    assert set(made.decisions) == {"SwitchedOff"}
