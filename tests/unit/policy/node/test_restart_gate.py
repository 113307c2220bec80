"""The node's opt-ins beside the kubelet's back-off, one by one, in virtual time to the nanosecond."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from probelet.policy.facts.snapshot import State
from probelet.policy.node.restart_gate import GateOptions, Limits, ResetCause, RestartGate
from probelet.policy.protocol.actions import Arm, Perform
from probelet.policy.protocol.effects import CreateContainer, StartContainer
from probelet.policy.protocol.inputs import Release, SyncRequested
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import SECOND, Rig, gate, make_pod, record

CRASHES = {"dies_after": {"app": 0}}


class Counts:
    """An observer that stores every call."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self.late: list[float] = []
        self.resets: Counter[ResetCause] = Counter()

    def charged(self, delay_ns: int, late_ns: int | None) -> None:
        self.delays.append(delay_ns / SECOND)
        if late_ns is not None:
            self.late.append(late_ns / SECOND)

    def forgotten(self, cause: ResetCause) -> None:
        self.resets[cause] += 1


def moments(rig: Rig, name: str = "app") -> list[float]:
    return [at for at, started, _ in rig.starts if started == name]


def looks(rig: Rig) -> list[float]:
    """The moments of the armed syncs, in the order in which the machine set them."""
    return [action.deadline_ns / SECOND for action in rig.actions if isinstance(action, Arm) and action.deadline_ns]


def causes(rig: Rig) -> list[tuple[str, bool]]:
    """The cause of each restart, and whether the restart was free."""
    effects = [effect for action in rig.actions if isinstance(action, Perform) for effect in action.effects]
    return [(e.cause, e.free) for e in effects if isinstance(e, StartContainer) and e.cause]


def annotated(text: str, *containers: dict[str, Any]) -> Pod:
    pod = make_pod(*containers)
    pod.metadata.annotations["probelet.dev/backoff"] = text
    return pod


# First restart.


def test_the_requeue_of_a_delayed_first_restart_honours_the_earliest_due_time_of_the_pod() -> None:
    rig = Rig(make_pod({"name": "a"}, {"name": "b"}), gate(10, 300, first_free=False), dies_after={"a": 0, "b": 4})
    rig.begin()
    rig.run_until(40)
    assert moments(rig, "a") == [0, 10, 30]
    assert moments(rig, "b") == [0, 14, 38]


def test_a_delayed_first_restart_is_shown_as_back_off() -> None:
    rig = Rig(make_pod(), gate(10, 300, first_free=False), **CRASHES)
    rig.begin()
    status = rig.published[-1].containers["app"]
    assert status.message == "back-off 10s restarting failed container=app pod=web_default(u1)"
    assert rig.machine.waits["app"].due_ns == 10 * SECOND


# Probe kills.


def kills(fails_after: int, count: int, **options: Any) -> str:
    rig = Rig(make_pod(), gate(**options))
    rig.begin()
    pairs = []
    for _ in range(count):
        started, _, number = rig.starts[-1]
        rig.run_until(started + fails_after)
        rig.probe_fails("liveness", f"t://app-{number}")
        killed = rig.kills[-1][0]
        while len(rig.starts) <= number + 1:
            rig.step()
        pairs.append(f"{killed:g}>{rig.starts[-1][0]:g}")
    return " ".join(pairs)


def test_with_its_own_exit_a_probe_kill_waits_as_a_crash_at_that_moment_does() -> None:
    assert kills(5, 8, own_exit=True) == "5>5 10>20 25>45 50>90 95>175 180>340 345>645 650>950"
    assert kills(5, 3) == "5>5 10>10 15>25"


def test_a_liveness_loop_slower_than_the_cap_is_throttled_only_with_its_own_exit() -> None:
    # A life and a wait take 301 s or more each: the entry is unused for more than 600 s, as after a crash.
    assert kills(310, 4) == "310>310 620>620 930>930 1240>1240"
    assert kills(310, 4, own_exit=True) == "310>310 620>630 940>960 1270>1310"


def test_a_restart_names_its_cause() -> None:
    rig = Rig(make_pod({"name": "app"}, {"name": "done"}), dies_after={"app": 1, "done": 2}, exit_code={"app": 3})
    rig.begin()
    rig.run_until(14)
    assert Counter(causes(rig)) == {
        ("error", True): 1,
        ("error", False): 1,
        ("exit0", True): 1,
        ("exit0", False): 1,
    }
    rig = Rig(make_pod())
    rig.begin()
    for number, probe_type in enumerate(("liveness", "startup")):
        rig.run_until(20 * number + 20)
        rig.probe_fails(probe_type, f"t://app-{number}")
    # The second kill uses the exit of the first life, which has no entry yet either.
    assert causes(rig) == [("probe_liveness", True), ("probe_startup", True)]


# The kubelet's own timer.


def test_with_the_kubelets_timer_a_restart_is_late_by_up_to_half_and_never_early() -> None:
    counts = Counts()
    late = RestartGate(GateOptions(late=True), counts, seed=7)
    rig = Rig(make_pod(), late, **CRASHES)
    rig.begin()
    while len(rig.starts) < 13:
        rig.step()
    starts = moments(rig)[1:]
    gaps = [after - before for before, after in pairwise(starts)]
    assert all(float(at).is_integer() for at in starts), "the queue is polled once a second"
    assert [late >= 0 for late in counts.late] == [True] * len(counts.late)
    for gap, delay in zip(gaps, [10, 20, 40], strict=False):
        assert delay <= gap <= delay * 1.5 + 1
    assert all(300 <= gap <= 331 for gap in gaps[5:])
    assert len(set(gaps[5:])) > 1, "which moment it is, is drawn"


def test_with_the_kubelets_timer_a_cap_of_a_second_gives_cycles_of_one_to_two_seconds() -> None:
    rig = Rig(make_pod(), RestartGate(GateOptions(initial_ns=SECOND, max_ns=SECOND, late=True)), **CRASHES)
    rig.begin()
    while len(rig.starts) < 30:
        rig.step()
    starts = moments(rig)[1:]
    assert {after - before for before, after in pairwise(starts)} <= {1, 2}


def test_a_long_wait_is_synced_every_minute_and_each_sync_is_an_event() -> None:
    rig = Rig(make_pod(), RestartGate(GateOptions(initial_ns=300 * SECOND, late=True)), **CRASHES)
    rig.begin()
    while len(rig.starts) < 3:
        rig.step()
    refused = sum(reason == "BackOff" for reason, _ in rig.events)
    assert 3 <= refused <= 6


def test_with_the_kubelets_timer_what_failed_is_retried_after_ten_to_fifteen_seconds() -> None:
    rig = Rig(make_pod(), RestartGate(GateOptions(late=True)), fail={CreateContainer: "no command"})
    rig.begin()
    rig.run_until(1_000)
    assert {after - before for before, after in pairwise(looks(rig))} == {11, 12, 13, 14, 15}


def test_with_the_kubelets_timer_what_failed_waits_for_the_first_back_off_of_its_pod() -> None:
    # The refused start's error names a moment, the other error does not (sync_result.go:MinBackoffExpiration, 1.36).
    for late, expected in ((True, range(41, 61)), (False, [10])):
        table = RestartGate(GateOptions(initial_ns=40 * SECOND, late=late))
        rig = Rig(make_pod({"name": "a"}, {"name": "b"}), table, dies_after={"a": 0})
        rig.begin()
        rig.fail[CreateContainer] = "no command"
        rig.probe_fails("liveness", "t://b-0")
        assert rig.machine.waits["a"].due_ns == 40 * SECOND
        assert rig.machine.statuses["b"].reason == "CreateContainerError"
        assert looks(rig)[-1] in expected


# Restart budget.


def test_a_budget_lets_a_burst_pass_and_then_one_restart_after_each_refill() -> None:
    names = ["a", "b", "c", "d"]
    pod = make_pod(*({"name": name} for name in names))
    rig = Rig(pod, gate(10, 300, budget=(2, 60 * SECOND)), dies_after=dict.fromkeys(names, 1))
    rig.begin()
    rig.run_until(30)
    # First starts need no token; the first restarts are free of delay, but the bucket holds two.
    assert [at for at, _, _ in rig.starts] == [0, 0, 0, 0, 1, 1]
    waiting = rig.published[-1].containers["c"]
    assert (waiting.state, waiting.reason) == ("waiting", "RestartBudget")
    assert waiting.message == "restart of container=c pod=web_default(u1) waits for the restart budget of the node"
    rig.run_until(250)
    assert [at for at, _, _ in rig.starts[6:]] == [61, 121, 181, 241]
    assert [name for _, name, _ in rig.starts[6:]] == ["c", "d", "a", "b"], "in the order in which they asked"


def test_restarts_that_pass_no_gate_take_tokens_if_there_is_a_budget() -> None:
    limited = gate(10, 300, budget=(2, 1_000 * SECOND))
    assert [limited.take(0), limited.take(0), limited.take(0)] == [True, True, False]
    assert all(gate().take(0) for _ in range(100))


def test_a_wait_for_the_budget_doubles_no_delay() -> None:
    rig = Rig(make_pod(), gate(10, 300, budget=(1, 100 * SECOND)), **CRASHES)
    rig.begin()
    rig.run_until(1_000)
    # Restarts are due at 0, 10, 120 ..., but a token comes only every 100 s; the delays double from start to start.
    assert moments(rig) == [0, 0, 100, 200, 300, 400, 560, 860]


# Curves of single containers.


def test_a_container_may_choose_its_curve_within_the_nodes_limits() -> None:
    limits = Limits(2 * SECOND, 60 * SECOND)
    pod = annotated("a=1s/8s,b=30s/10m", {"name": "a"}, {"name": "b"}, {"name": "c"})
    rig = Rig(pod, gate(10, 300, limits=limits), dies_after={"a": 0, "b": 0, "c": 0})
    rig.begin()
    rig.run_until(130)
    assert moments(rig, "a") == [0, 0, 2, 6, *range(14, 131, 8)]
    assert moments(rig, "b") == [0, 0, 30, 90]
    assert moments(rig, "c") == [0, 0, 10, 30, 70]


def test_without_the_opt_in_the_annotation_changes_nothing() -> None:
    rig = Rig(annotated("app=1s/1s"), **CRASHES)
    rig.begin()
    rig.run_until(60)
    assert moments(rig) == [0, 0, 10, 30]


# Commands of an operator.


def test_a_released_container_starts_at_once_and_is_not_charged_for_it() -> None:
    rig = Rig(make_pod(), **CRASHES)
    rig.begin()
    rig.run_until(40)
    assert rig.machine.waits["app"].due_ns == 70 * SECOND
    rig.handle(Release(("app",)))
    rig.settle()
    # It crashes again at once; its 40 s are charged from this exit.
    rig.run_until(200)
    assert moments(rig) == [0, 0, 10, 30, 40, 80, 160]
    assert causes(rig)[3] == ("error", False), "a delay stood before it, which the operator took away"


def test_a_release_of_a_running_container_does_nothing() -> None:
    rig = Rig(make_pod())
    rig.begin()
    rig.run_until(5)
    assert rig.handle(Release(("app",))) == []
    assert moments(rig) == [0]


def test_a_release_passes_the_budget_too() -> None:
    rig = Rig(make_pod(), gate(10, 300, budget=(1, 1_000 * SECOND)), **CRASHES)
    rig.begin()
    rig.run_until(50)
    assert moments(rig) == [0, 0]
    rig.handle(Release(("app",)))
    rig.settle()
    assert moments(rig) == [0, 0, 50]


def test_a_reset_begins_the_curve_anew() -> None:
    counts = Counts()
    table = RestartGate(observer=counts)
    rig = Rig(make_pod(), table, **CRASHES)
    rig.begin()
    rig.run_until(100)
    assert table.step(rig.pod, rig.pod.spec.containers[0]) == 4
    assert table.reset(rig.pod, rig.pod.spec.containers[0])
    assert not table.reset(rig.pod, rig.pod.spec.containers[0])
    rig.handle(SyncRequested())
    rig.settle()
    rig.run_until(125)
    assert moments(rig)[-2:] == [100, 110]
    assert counts.resets == {"operator": 1}


# Counts, and the entries that the gate keeps.


@pytest.mark.parametrize(("runs_for", "cause"), [(601, "ran_long"), (599, "gc")])
def test_a_reset_is_counted_by_its_cause(runs_for: int, cause: ResetCause) -> None:
    counts = Counts()
    rig = Rig(make_pod(), RestartGate(observer=counts), dies_after={"app": runs_for})
    rig.begin()
    while len(rig.starts) < 5:
        rig.step()
    # The first restart makes the entry, and each later restart resets it.
    assert counts.resets == {cause: 3}


def test_observed_delays_and_lateness_equal_the_actual_waits() -> None:
    counts = Counts()
    rig = Rig(make_pod(), RestartGate(observer=counts), **CRASHES)
    rig.begin()
    rig.run_until(100)
    assert (counts.delays, counts.late) == ([0, 10, 20, 40], [0, 0, 0])


def test_the_entries_of_a_pod_that_is_gone_are_kept_for_its_return_and_then_dropped() -> None:
    table = RestartGate()
    rig = Rig(make_pod(), table, **CRASHES)
    rig.begin()
    rig.run_until(100)
    assert table.entries(100 * SECOND) == 1
    table.forget(rig.pod, 100 * SECOND)
    assert table.entries(700 * SECOND) == 1
    assert table.entries(701 * SECOND) == 0


def test_another_image_leaves_the_delays_of_the_other_containers() -> None:
    table = RestartGate()
    before = make_pod({"name": "app"}, {"name": "other"})
    rig = Rig(before, table, dies_after={"app": 0, "other": 0})
    rig.begin()
    rig.run_until(100)
    after = make_pod({"name": "app"}, {"name": "other", "image": "j"})
    table.change(before, after, 100 * SECOND)
    assert table.entries(701 * SECOND) == 1
    assert [table.step(after, container) for container in after.spec.containers] == [4, 0]


def test_with_the_kubelets_timer_entries_past_their_reset_time_go_every_two_seconds() -> None:
    counts = Counts()
    table = RestartGate(GateOptions(late=True, reset_ns=SECOND), counts)
    pod = make_pod({"name": "app"}, {"name": "other"})
    app, other = pod.spec.containers
    exits = [record(pod, container.name, State.EXITED, finished_ns=0) for container in (app, other)]
    table.decide(pod, app, exits[0], 0)
    table.decide(pod, other, exits[1], 2 * SECOND - 1)
    assert counts.resets == {}
    table.decide(pod, other, exits[1], 2 * SECOND)
    assert counts.resets == {"gc": 1}


def test_a_gate_of_a_new_process_knows_nothing_and_begins_on_its_own_curve() -> None:
    first = Rig(make_pod(), gate(10, 300), **CRASHES)
    first.begin()
    first.run_until(200)
    # A probelet with flipped gates starts on the same runtime: the first restart is free, then the new curve applies.
    after = Rig(make_pod(), gate(1, 60), **CRASHES)
    after.now, after.snapshot = first.now, first.snapshot
    after.begin()
    after.run_until(232)
    assert moments(after) == [200, 201, 203, 207, 215, 231]
    back = Rig(make_pod(), gate(10, 300), **CRASHES)
    back.now, back.snapshot = after.now, after.snapshot
    back.begin()
    back.run_until(270)
    assert moments(back) == [232, 242, 262]
