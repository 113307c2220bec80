"""The breaker of a node: it counts last attempts, and silence only once it says something (F-11, M3)."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as some
from probelet.beside.guard.objects.node_probes import LAST_ATTEMPT_FAILED
from probelet.beside.guard.restart.state.node_share import NodeShare

from tests.unit.beside.guard.restart.rig import FAST, SECOND, Rig, TestPod

OPEN: Final = {**FAST, "breaker.action": "off", "queue.perWorkload": "1000", "workload.maxInFlight": "100%"}


def node(made: Rig, fast: int, slow: int, *, seconds: int = 30, threshold: int = 3) -> tuple[list[TestPod], ...]:
    """Pods of one node whose probes have periods of 3 s and of ``seconds``, each of a workload of its own."""
    rows = []
    for name, count, period in (("fast", fast, 3), ("slow", slow, seconds)):
        probe = {"periodSeconds": period, "failureThreshold": threshold}
        rows.append([made.pod(f"{name}-{number}", workload=f"{name}-{number}", probe=probe) for number in range(count)])
    made.sync()
    made.run(5)
    made.heartbeats(3000)
    return tuple(rows)


def first_failure(made: Rig, pod: TestPod) -> None:
    """An attempt of a probe has failed, which is no verdict yet."""
    made.set_state(pod, "app", "Succeeded", f"{LAST_ATTEMPT_FAILED}timeout")
    made.publish(pod.node)


@pytest.mark.parametrize(("fast", "slow"), [(2, 8), (4, 6), (5, 1), (1, 9)])
def test_behind_one_broken_network_nothing_is_restarted_before_it_is_back(fast: int, slow: int) -> None:
    made = Rig(OPEN)
    fasts, slows = node(made, fast, slow)
    made.fail(*fasts)
    # The slow probes make their first attempts within 30 s, and fail for good a minute later.
    for number, pod in enumerate(slows):
        made.later((number + 1) * 30 * SECOND // len(slows), lambda pod=pod: first_failure(made, pod))  # type: ignore[misc]
        made.later(60 * SECOND + (number + 1) * 30 * SECOND // len(slows), lambda pod=pod: made.fail(pod))  # type: ignore[misc]
    made.run(200)
    assert made.creates == []
    assert made.last("fast-0").reason == "BreakerOpen"
    assert made.guard.gauges(made.now).open_nodes == 1
    # The network is back: the fast probes say so first, and the slow ones one after the other.
    made.run(2)
    made.heal(*fasts)
    for number, pod in enumerate(slows):
        made.later(number * 30 * SECOND // len(slows), lambda pod=pod: made.heal(pod))  # type: ignore[misc]
    made.run(120)
    assert made.creates == []
    assert made.guard.gauges(made.now).open_nodes == 0


def test_a_hang_among_slow_probes_is_repaired_once_one_of_them_is_known_to_be_well() -> None:
    made = Rig(OPEN)
    [hung], slows = node(made, 1, 9)
    made.fail(hung)
    # 30 s and 1 s for an attempt, 5 s to publish it; the failure itself lasted for two periods when it was known.
    made.run(29.9)
    assert made.creates == []
    text = "1 of 1 probed pods of node node1 fail at once; not probed since it began: 9 more"
    assert made.last("fast-0").message == text
    made.run(0.2)
    assert made.created_pods == ["fast-0"]
    assert len(slows) == 9


def test_a_hang_among_probes_with_the_same_period_waits_for_nothing_else() -> None:
    made = Rig(OPEN)
    _, pods = node(made, 0, 10, seconds=10)
    made.fail(pods[0])
    made.run(4.9)
    assert made.creates == []
    made.run(0.2)
    assert made.created_pods == ["slow-0"]


def test_a_threshold_of_one_waits_until_others_were_probed() -> None:
    made = Rig(OPEN)
    _, pods = node(made, 0, 10, seconds=10, threshold=1)
    made.fail(pods[0])
    made.run(15.9)
    assert made.creates == []
    made.run(0.2)
    assert made.created_pods == ["slow-0"]


def test_an_old_failure_is_judged_by_what_was_seen_since_it_began() -> None:
    """A new failure of others says nothing about one that lasts; its own gate held it back."""
    made = Rig({**OPEN, "enabled": "false"})
    fasts, slows = node(made, 3, 7)
    made.fail(slows[0])
    made.run(100)
    made.fail(*fasts)
    made.configure(OPEN)
    made.run(6)
    assert made.created_pods == ["slow-0"], "judged by the old failure, 4 of 10 known pods fail"
    assert {made.last(pod.name).reason for pod in fasts} == {"BreakerOpen"}


def test_where_the_publisher_shows_verdicts_alone_its_silence_says_something_later() -> None:
    made = Rig(OPEN, shows_attempts=False, heartbeat_ns=600 * SECOND)
    [hung], _ = node(made, 1, 9)
    made.fail(hung)
    made.run(89.9)
    assert made.creates == [], "three attempts, each 30 s after the other"
    made.run(0.2)
    assert made.created_pods == ["fast-0"]


def test_an_absence_makes_every_silence_new() -> None:
    made = Rig(OPEN)
    [hung], _ = node(made, 1, 9)
    made.fail(hung)
    made.run(20)
    made.sync(False)
    made.run(20)
    made.sync()
    made.run(29.9)
    assert made.creates == []
    made.run(0.2)
    assert made.created_pods == ["fast-0"]


# The count by itself.

UIDS: Final = [str(number) for number in range(8)]
NODES: Final = ["a", "b"]
PUT = some.tuples(some.sampled_from(UIDS), some.sampled_from(NODES), some.booleans(), some.integers(1, 40))
STEP = some.one_of(PUT, some.sampled_from(UIDS))


@given(some.lists(STEP, max_size=40), some.integers(-5, 45))
def test_the_count_is_that_of_a_plain_table(steps: list[tuple[str, str, bool, int] | str], age: int) -> None:
    share, table = NodeShare(), dict[str, tuple[str, bool, int]]()
    for step in steps:
        if isinstance(step, str):
            share.drop(step)
            table.pop(step, None)
        else:
            uid, place, fails, span = step
            share.put(uid, place, is_failing=fails, span_ns=span)
            table[uid] = (place, fails, span)
    for name in NODES:
        rows = [(fails, span) for place, fails, span in table.values() if place == name]
        failing, well = sum(fails for fails, _ in rows), sum(not fails and span <= age for fails, span in rows)
        assert (share.probed(name), share.failing(name), share.well(name, age)) == (len(rows), failing, well)
        is_above = len(rows) >= 3 and failing > 0 and failing / (failing + well) >= 0.8
        assert share.is_above(name, age, 0.8, 3) == is_above
        left = [span - age for fails, span in rows if not fails and span > age]
        assert share.next_ns(name, age) == min(left, default=None)
        # A failure that began later never finds a smaller share.
        assert not is_above or all(share.is_above(name, earlier, 0.8, 3) for earlier in range(-5, age))
