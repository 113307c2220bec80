"""Upstream's tests of crash-loop back-off, 1.36, in virtual time.

They cover the table (client-go util/flowcontrol/backoff_test.go), the gate before a start
(kuberuntime_manager_test.go), and the next sync by the pod worker (pod_workers_test.go).

The library's default reset is twice the longest delay, the kubelet's is a fixed time; ``reset_ns`` of our table can be
either.
"""

from collections.abc import Callable

import pytest
from probelet._rust import Backoff
from probelet.lab.backoff import Curve, restarts
from probelet.policy.facts.snapshot import State
from probelet.policy.node.restart_gate import GateOptions, RestartGate, StartDecision, Wait
from probelet.policy.start.image_backoff import ImageBackoff

from tests.kubelet.upstream.row import row
from tests.unit.policy.rig import SECOND, Rig, gate, make_pod, record

DRAWS = 2_000


class Table:
    """One key of the library's back-off. ``next`` reports an exit of long ago, which our table never delays."""

    def __init__(self, initial: int, longest: int, reset: int | None = None) -> None:
        reset = 2 * longest if reset is None else reset
        self.table = Backoff(initial_ns=initial * SECOND, max_ns=longest * SECOND, reset_ns=reset * SECOND)
        self.now = 10_000

    @property
    def delay(self) -> int:
        return self.table.delay_ns("id") // SECOND

    def next(self) -> None:
        assert self._decide(finished=0) == "start"

    def in_back_off_since(self, finished: int) -> bool:
        return self._decide(finished) == "wait"

    def collect(self) -> int:
        return self.table.collect(self.now * SECOND)

    def _decide(self, finished: int) -> str:
        decision = self.table.decide(
            "id",
            now_ns=self.now * SECOND,
            finished_ns=finished * SECOND,
            exit_code=1,
            restart_policy="Always",
        )
        return decision.word


def at_the_longest_delay(reset: int | None = None) -> Table:
    table = Table(1, 5, reset)
    for _ in range(6):
        table.now += 1
        table.next()
    assert table.delay == 5
    return table


@row("B1")
def test_a_back_off_doubles_with_each_restart_up_to_its_cap(row: str) -> None:
    table = Table(1, 50)
    found = []
    for _ in range(10):
        table.now += 1
        found.append(table.delay)
        table.next()
    assert found == [0, 1, 2, 4, 8, 16, 32, 50, 50, 50]
    assert table.table.reset("id")
    assert table.delay == 0


@row("B2")
def test_an_entry_idle_for_longer_than_the_reset_is_not_in_back_off(row: str) -> None:
    table = at_the_longest_delay()
    assert table.in_back_off_since(table.now)
    last = table.now
    table.now += 11
    assert not table.in_back_off_since(last)


@row("B3")
def test_the_delay_stays_at_its_high_water_mark(row: str) -> None:
    table = at_the_longest_delay()
    table.now += 6
    table.next()
    assert table.delay == 5


@row("B4")
def test_housekeeping_drops_an_entry_idle_for_twice_the_longest_delay(row: str) -> None:
    table = at_the_longest_delay()
    table.now += 6
    assert table.collect() == 0
    table.now += 6
    assert (table.collect(), table.delay) == (1, 0)


@pytest.mark.parametrize(("reset", "kept", "dropped"), [(20, 20, 21), (4, 4, 5)], ids=["later", "earlier"])
@row("B5")
def test_housekeeping_follows_another_threshold(reset: int, kept: int, dropped: int, row: str) -> None:
    table = at_the_longest_delay(reset)
    last = table.now
    table.now = last + kept
    assert table.collect() == 0
    table.now = last + dropped
    assert table.collect() == 1


@row("B6")
def test_expiry_follows_another_threshold(row: str) -> None:
    # Upstream's table expires an entry at eight seconds; the kubelet's and ours expire it only after more than eight.
    table = Table(4, 50, reset=8)
    table.next()
    table.now += 5
    table.next()
    assert table.delay == 8
    table.now += 9
    table.next()
    assert table.delay == 4


@row("B7")
def test_a_back_off_counts_from_the_last_update(row: str) -> None:
    # Only image pulls use this rule, with ten times upstream's delays and at most 300 s instead of 10: one tick is ten
    # seconds. An entry without a failure since 910 s has expired by 1520 s, so the delays begin anew.
    table, tried = ImageBackoff(), []
    for tick in (*range(92), 152, 153):
        now = 10 * tick * SECOND
        if table.wait("image", now) is None:
            tried.append(tick)
            table.failed("image", "refused", now)
    assert tried == [0, 1, 3, 7, 15, 31, 61, 91, 152, 153]


@row("B8")
def test_jitter_adds_up_to_its_part_of_the_delay_before(row: str) -> None:
    curve = Curve.parse("100ms/60s", jitter=0.1)
    for seed in range(100):
        before = 0
        for restart in restarts(curve, count=12, seed=seed)[1:]:
            if before and restart.delay_ns < curve.max_ns:
                assert 2 * before <= restart.delay_ns <= 2.1 * before
            before = restart.delay_ns
        assert before == curve.max_ns


# The gate (TestDoBackOff).


def asked(exits: int, now: int) -> tuple[StartDecision, RestartGate]:
    """Asks the gate at second ``now``, ``exits`` times, about a container that ended; returns the last verdict."""
    pod, start_gate, verdict = make_pod(), gate(1, 60), StartDecision("start")
    (container,) = pod.spec.containers
    exited = record(pod, "app", State.EXITED, exit_code=1, finished_ns=5 * SECOND)
    for _ in range(exits):
        verdict = start_gate.decide(pod, container, exited, now * SECOND)
    return verdict, start_gate


@row("B9")
def test_a_container_that_never_exited_starts_and_leaves_no_entry(row: str) -> None:
    pod, start_gate = make_pod(), gate(1, 60)
    assert start_gate.decide(pod, pod.spec.containers[0], None, 5 * SECOND) == StartDecision("start", free=True)
    assert start_gate.entries(5 * SECOND) == 0


@row("B10")
def test_an_exit_without_an_entry_lets_the_container_start_and_makes_one(row: str) -> None:
    verdict, start_gate = asked(1, now=5)
    assert verdict == StartDecision("start", free=True)
    assert start_gate.entries(5 * SECOND) == 1


@row("B11")
def test_an_exit_in_back_off_is_refused_until_a_delay_after_it(row: str) -> None:
    verdict, _ = asked(2, now=5)
    assert verdict == StartDecision("backoff", due_ns=6 * SECOND, delay_ns=SECOND)


# When the pod worker syncs the pod again (TestMinBackoffExpiration, TestCompleteWork).


def waits(*seconds: float) -> list[Wait]:
    return [Wait(int((100 + each) * SECOND), 10 * SECOND) for each in seconds]


def exact(*seconds: float, failed: bool = False) -> float | None:
    found = RestartGate().next_sync(waits(*seconds), 100 * SECOND, failed=failed)
    return None if found is None else found / SECOND - 100


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(lambda: exact(), None, id="none-B12"),
        pytest.param(lambda: exact(failed=True), 10, id="plain-B12"),
        pytest.param(lambda: exact(5), 5, id="one-B13"),
        pytest.param(lambda: exact(3, failed=True), 3, id="beside_a_plain_one-B13"),
        pytest.param(lambda: exact(10, 3, 7), 3, id="many-B14"),
    ],
)
def test_the_next_sync_is_at_the_earliest_end_of_a_back_off(
    found: Callable[[], float | None], expected: float | None
) -> None:
    assert found() == expected


def kubelet(*seconds: float, failed: bool = False) -> set[float]:
    """The seconds from now at which the kubelet's timer may sync a pod again, collected from many draws."""
    late = RestartGate(GateOptions(late=True), seed=1)
    found = [late.next_sync(waits(*seconds), 100 * SECOND, failed=failed) for _ in range(DRAWS)]
    return {-1.0 if each is None else each / SECOND - 100 for each in found}


def whole_seconds(first: int, last: int) -> set[float]:
    return {float(second) for second in range(first, last + 1)}


# Upstream's tests set the resync to 20 s; the kubelet's own and ours is 60 s. The kubelet polls its queue at whole
# seconds: a draw from [5, 7.5) means a sync after 6 to 8 s, and exactly 5 s does not come up in practice.
@pytest.mark.parametrize(
    ("seconds", "failed", "expected"),
    [
        pytest.param((), True, whole_seconds(11, 15), id="B17"),
        pytest.param((5,), False, whole_seconds(6, 8), id="B18"),
        pytest.param((7,), True, whole_seconds(8, 11), id="B19"),
        pytest.param((10, 3), False, whole_seconds(4, 5), id="B20"),
        pytest.param((-5,), False, {0.0}, id="B21"),
        pytest.param((80,), False, whole_seconds(61, 90), id="B22"),
        pytest.param((80,), True, whole_seconds(61, 90), id="beside_a_plain_one-B22"),
    ],
)
def test_the_pod_worker_syncs_again_within_the_kubelets_jitter(
    seconds: tuple[int, ...], failed: bool, expected: set[float]
) -> None:
    assert kubelet(*seconds, failed=failed) == expected


@row("B16")
def test_after_a_sync_without_an_error_no_sync_is_due(row: str) -> None:
    assert kubelet() == {-1.0}


@pytest.mark.parametrize("late", [False, True])
@row("B15")
def test_the_next_phase_of_a_pod_begins_at_the_same_moment(late: bool, row: str) -> None:
    rig = Rig(make_pod(restartPolicy="Never"), RestartGate(GateOptions(late=late)), dies_after={"app": 4.5})
    rig.begin()
    rig.run_until(4.5)
    assert rig.published[-1].phase == "Failed"
    assert not any(box.ready for box in rig.snapshot.sandboxes)
