"""What goes wrong around the decision: F ids, and T-37 and T-39."""

from typing import Any

import pytest
from probelet.beside.guard.objects.recreate_request import read_request
from probelet.beside.guard.restart.protocol.inputs import RequestChanged, WallClock
from probelet.beside.guard.restart.protocol.outputs import Create, Delete

from tests.unit.beside.guard.restart.rig import FAST, SECOND, START_WALL, Rig, TestPod

OPEN = {**FAST, "breaker.action": "off", "workload.maxInFlight": "100%"}


def replay(old: Rig, config: dict[str, str], *, pods_first: bool = False, **options: Any) -> Rig:
    """Another controller over the same objects: it gets what an API server would list, then the rest goes on."""
    new = Rig(config, **options)
    new.agenda.now, new.budgets = old.now, old.budgets
    new.requests.update(old.requests)
    new._versions = old._versions
    new.workload("web", len(old.pods))
    if not pods_first:
        show_requests(new)
    for pod in old.pods.values():
        state, started = pod.probes, pod.started
        new.pod(pod.name, node=pod.node, workload=pod.workload, uid=pod.uid)
        made = new.pods[pod.name]
        made.probes, made.started, made.restarts, made.unready = state, started, pod.restarts, pod.unready
        new.show(made)
        new.publish(made.node)
    if pods_first:
        show_requests(new)
    return new


def show_requests(rig: Rig) -> None:
    for key, request in rig.requests.items():
        rig.give(RequestChanged(key, read_request(request)))


def test_t39_f1_the_switch_empties_the_queue_and_leaves_running_restarts() -> None:
    slow = {**OPEN, "rate.tokensPerMinute": "6", "rate.burst": "2"}
    made = Rig(slow)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(20)
    made.fail(*pods[:7])
    made.run(8)
    assert (len(made.creates), made.queued) == (2, 5)
    made.configure({**slow, "enabled": "false"})
    assert made.queued == 0
    assert made.reasons().count("SwitchedOff") >= 5
    made.run(600)
    assert len(made.creates) == 2
    assert made.of(Delete)[:1] == [], "both were Recreating"
    assert all(pod.restarts == {"app": 1} for pod in pods if pod.name in made.created_pods), "and finished"


def test_f1_requests_that_no_node_has_begun_are_deleted_also_one_that_arrives_late() -> None:
    made = Rig(OPEN, serves=False)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.fail(*pods[:2])
    made.run(6)
    [first, second] = made.requests
    made.requests[second]["status"] = {"phase": "Recreating"}
    made.give(RequestChanged(second, read_request(made.requests[second])))
    made.configure({**OPEN, "enabled": "false"})
    assert [each.key for each in made.of(Delete)] == [first]
    late = {**made.requests[first], "metadata": {**made.requests[first]["metadata"], "name": "late", "uid": "l"}}
    made.give(RequestChanged(("default", "late"), read_request(late)))
    assert [each.key[1] for each in made.of(Delete)][1:] == ["late"]


def test_f1_probes_go_on_so_a_recovery_is_seen_and_the_switch_lets_the_rest_pass() -> None:
    made = Rig({**OPEN, "enabled": "false"})
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.fail(*pods[:2])
    made.run(30)
    made.heal(pods[0])
    made.configure(OPEN)
    made.run(20)
    assert made.created_pods == ["web-1"]


def test_f2_without_the_api_server_nothing_is_decided() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.fail(*pods[:2])
    made.run(60)
    assert made.outputs == [], "not before everything is known"
    made.sync()
    made.run(3)
    made.sync(False)
    assert made.queued == 0
    made.fail(pods[2])
    made.run(60)
    assert made.creates == []
    made.heal(pods[0])
    made.fail(pods[1], pods[2])
    made.sync()
    made.run(10)
    assert sorted(made.created_pods) == ["web-1", "web-2"]


def test_f3_the_bucket_begins_empty_however_long_the_start_takes() -> None:
    made = Rig({**OPEN, "rate.tokensPerMinute": "6", "rate.burst": "5"})
    pods = made.pods_of("web", 10)
    made.run(300)
    made.sync()
    made.heartbeats(600)
    made.fail(*pods)
    made.run(9)
    assert made.creates == []
    made.run(12)
    assert len(made.creates) == 2


def test_f3_a_new_controller_counts_the_restarts_under_way() -> None:
    config = {**FAST, "breaker.action": "off", "workload.maxInFlight": "2"}
    made = Rig(config, restart_seconds=100)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.fail(*pods)
    made.run(15)
    assert len(made.requests) == 2
    new = replay(made, config)
    new.sync()
    new.heartbeats(600)
    new.run(30)
    assert (new.in_flight, new.creates) == (2, [])
    for key in list(new.requests):
        new.finish(key)
    new.run(10)
    assert len(new.creates) == 2


def test_f3_a_new_controller_remembers_the_backoff() -> None:
    made = Rig(OPEN, restart_seconds=1)
    pods = made.pods_of("web", 10)
    made.bad = {"web-0"}
    made.sync()
    made.run(5)
    made.heartbeats(600)
    made.fail(pods[0])
    made.run(60)
    assert len(made.creates) == 3
    new = replay(made, OPEN)
    new.sync()
    assert [each.reason for each in new.of(type(new.last("web-0")))] == ["Backoff"]
    assert "the delay is 40 s" in new.last("web-0").message


@pytest.mark.parametrize("pods_first", [True, False])
def test_f3_a_new_controller_counts_a_failed_request_as_the_former_one_did_and_says_nothing(pods_first: bool) -> None:
    made = Rig(OPEN, serves=False)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(16)
    [key] = made.requests
    made.finish(key, succeeded=False, message="daemon has not responded for a long time")
    new = replay(made, OPEN, serves=False, pods_first=pods_first)
    new.sync()
    assert new.outputs == []
    of_old, of_new = (each.guard._cluster.history.due("uid-web-0/app", made.now) for each in (made, new))
    assert of_old is not None
    assert of_new is not None
    assert of_old[1] == of_new[1] == 20 * SECOND
    assert 0 <= of_old[0] - of_new[0] < SECOND, "the API server's times are whole seconds"


def test_t37_f3_killed_between_create_and_record() -> None:
    made = Rig(OPEN, serves=False)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.fail(pods[0])
    made.run(6)
    assert len(made.requests) == 1
    new = replay(made, OPEN, serves=False)
    [key] = made.requests
    new.give(RequestChanged(key, None))
    new.sync()
    new.run(30)
    assert len(new.creates) == 1, "its cache did not have it yet"
    assert new.creates[0].body["metadata"]["name"] == key[1]
    assert len(new.requests) == 1, "the API server said AlreadyExists"
    new.give(RequestChanged(key, read_request(new.requests[key])))
    new.fail(new.pods["web-0"])
    new.run(300)
    assert len(new.creates) == 1


def test_f13_two_controllers_make_the_same_request() -> None:
    names: list[str] = []
    for _ in range(2):
        made = Rig(OPEN, seed=len(names))
        pods = made.pods_of("web", 10)
        made.sync()
        made.run(5)
        made.fail(pods[3])
        made.run(10)
        names.append(made.creates[0].body["metadata"]["name"])
    assert names[0] == names[1]


def test_f5_a_request_that_no_node_answers_ends_with_its_deadline_and_a_backoff() -> None:
    made = Rig(OPEN, serves=False)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.heartbeats(2000)
    made.fail(pods[0])
    made.run(66)
    [key] = made.requests
    made.finish(key, succeeded=False, message="daemon has not responded for a long time")
    made.run(70)
    assert made.events("ELPRestartFailed") != []
    assert made.in_flight == 0


def test_a_create_that_nobody_saw_is_forgotten_after_a_minute_and_made_again() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.answer = {Create: "failed"}
    made.sync()
    made.run(5)
    made.heartbeats(2000)
    made.fail(pods[0])
    made.run(30)
    assert (len(made.creates), made.in_flight) == (1, 1)
    made.answer = {}
    made.run(70)
    assert len(made.requests) == 1
    assert len({each.body["metadata"]["name"] for each in made.creates}) == 1


@pytest.mark.parametrize("change", ["deleted", "replaced"])
def test_f15_a_pod_that_goes_while_it_waits(change: str) -> None:
    made = Rig({**OPEN, "rate.tokensPerMinute": "6", "rate.burst": "1"})
    pods = made.pods_of("web", 10)
    made.sync()
    made.fail(pods[0])
    made.run(1)
    assert made.queued == 1
    if change == "deleted":
        made.gone(pods[0])
    else:
        pods[0].restarts["app"] = 1
        pods[0].started["app"] = made.now
        made.show(pods[0])
    assert made.queued == 0
    made.run(100)
    assert made.creates == []


def test_f16_a_probe_that_flaps_is_bounded_by_the_backoff() -> None:
    made = Rig(OPEN, restart_seconds=1)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    for _ in range(600):
        made.fail(pods[0])
        made.run(1)
        made.heal(pods[0])
        made.run(1)
    assert len(made.creates) <= 8


def test_f17_a_lost_status_comes_with_the_next_heartbeat() -> None:
    made = Rig(OPEN)
    pods = made.pods_of("web", 10)
    made.sync()
    made.run(5)
    made.set_state(pods[0], "app", "Failed")
    made.run(60)
    made.fail(pods[0])
    made.run(10)
    assert made.created_pods == ["web-0"]


def test_f12_the_controllers_clock_may_differ_by_a_minute() -> None:

    for skew, expected in ((50, 1), (-50, 1), (250, 0)):
        made = Rig(OPEN)
        pods = made.pods_of("web", 10)
        made.give(WallClock(START_WALL + skew * SECOND))
        made.sync()
        made.run(5)
        made.fail(pods[0])
        made.run(10)
        assert len(made.creates) == expected, skew


def test_a_pod_is_forgotten_with_all_that_is_known_about_it() -> None:
    made = Rig(OPEN, restart_seconds=1)
    pods = made.pods_of("web", 10)
    made.bad = {pod.name for pod in pods}
    made.sync()
    made.run(5)
    made.heartbeats(100)
    made.fail(*pods)
    made.run(100)
    for pod in list(made.pods.values()):
        made.gone(pod)
    made.run(800)
    guard = made.guard
    assert made.requests == {}
    held: list[TestPod | object] = [
        *guard._cluster.failed_since._since,
        *guard._cluster.node_held,
        *guard._cluster.of_node._nodes,
        *guard._outbox.held._reasons,
        *guard._cluster.pods,
        *guard._cluster.entries,
        *guard._cluster._unready,
        *guard._cluster.history._restarts,
        *guard._waiting._at,
        *guard._launcher.creates,
        *guard._landing._noted,
        *guard._cluster.flights,
    ]
    assert held == []
