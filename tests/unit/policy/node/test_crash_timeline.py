"""Restart times of a crashing container, to the nanosecond, with the exact timer."""

from typing import Any

import pytest

from tests.unit.policy.rig import SECOND, Rig, gate, make_pod

# From (initial, cap) in seconds to the times of restarts 1..n, for a container that crashes at once.
SHIPPED = {
    (10, 300): [0, 10, 30, 70, 150, *range(310, 7511, 300)],
    (1, 60): [0, 1, 3, 7, 15, 31, 63, *range(123, 1444, 60)],
    (1, 1): list(range(30)),
    (2, 2): list(range(0, 60, 2)),
    (4, 4): list(range(0, 120, 4)),
    (1, 4): [0, 1, 3, *range(7, 115, 4)],
    (10, 10): list(range(0, 300, 10)),
    (1, 10): [0, 1, 3, 7, 15, *range(25, 275, 10)],
    (10, 11): [0, 10, *range(21, 329, 11)],
    (10, 30): [0, 10, *range(30, 870, 30)],
    (10, 60): [0, 10, 30, *range(70, 1690, 60)],
    (10, 100): [0, 10, 30, 70, *range(150, 2750, 100)],
    (1, 30): [0, 1, 3, 7, 15, *range(31, 752, 30)],
    (1, 300): [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, *range(811, 6512, 300)],
}


def restarts(curve: tuple[int, int], count: int, runs_for: float = 0, **options: Any) -> list[float]:
    rig = Rig(make_pod(), gate(*curve, **options), dies_after={"app": runs_for})
    rig.begin()
    while len(rig.starts) <= count:
        rig.step()
    return [moment for moment, _, _ in rig.starts[1 : count + 1]]


def test_every_timeline_is_thirty_restarts_long() -> None:
    assert {len(moments) for moments in SHIPPED.values()} == {30}


@pytest.mark.parametrize("curve", SHIPPED, ids=str)
def test_with_the_first_restart_delayed_the_same_curve_begins_one_delay_later(curve: tuple[int, int]) -> None:
    assert restarts(curve, 29, first_free=False) == SHIPPED[curve][1:]


@pytest.mark.parametrize("curve", SHIPPED, ids=str)
def test_a_container_that_crashes_at_once_restarts_on_the_shipped_curve(curve: tuple[int, int]) -> None:
    assert restarts(curve, len(SHIPPED[curve])) == SHIPPED[curve]


@pytest.mark.parametrize(
    ("runs_for", "waits"),
    [
        (300, [0, 10, 20, 40, 80, 160, 300, 300]),
        (301, [0, 10, 20, 40, 80, 160, 300, 10, 20, 40]),
        (599, [0, 10, 10, 10]),
        (600, [0, 10, 10, 10]),
        (601, [0, 0, 0]),
    ],
)
def test_a_long_life_resets_the_delay_by_its_exit_or_by_an_unused_entry(runs_for: int, waits: list[int]) -> None:
    moments = restarts((10, 300), len(waits), runs_for)
    starts = [0.0, *moments]
    assert [starts[n + 1] - starts[n] - runs_for for n in range(len(waits))] == waits


# From the age at which the probe fails, in seconds, to the pairs (kill, restart).
PROBE_KILLS = {
    5: "5>5 10>10 15>25 30>50 55>95 100>180 185>345 350>650 655>655 660>960 965>965 970>1270",
    30: "30>30 60>60 90>90 120>120 150>190 220>300 330>490 520>820 850>850 880>1180",
    40: "40>40 80>80 120>120 160>160 200>200 240>320 360>520 560>860 900>900 940>1240",
    60: "60>60 120>120 180>180 240>240 300>300 360>440 500>660 720>1020 1080>1080 1140>1440",
    310: "310>310 620>620 930>930 1240>1240 1550>1550 1860>1860 2170>2170 2480>2480",
}


@pytest.mark.parametrize("fails_after", PROBE_KILLS)
def test_a_probe_kill_is_judged_by_the_exit_of_the_life_before(fails_after: int) -> None:
    rig = Rig(make_pod())
    rig.begin()
    pairs = []
    for _ in PROBE_KILLS[fails_after].split():
        started, _, count = rig.starts[-1]
        rig.run_until(started + fails_after)
        rig.probe_fails("liveness", f"t://app-{count}")
        killed = rig.kills[-1][0]
        while len(rig.starts) <= count + 1:
            rig.step()
        pairs.append(f"{killed:g}>{rig.starts[-1][0]:g}")
    assert " ".join(pairs) == PROBE_KILLS[fails_after]


def test_the_grace_of_a_kill_comes_before_the_back_off_of_its_restart() -> None:
    rig = Rig(make_pod(), kill_takes=7)
    rig.begin()
    rig.run_until(20)
    rig.probe_fails("liveness", "t://app-0")
    rig.run_until(100)
    assert rig.starts == [(0, "app", 0), (27, "app", 1)]


def test_two_containers_wait_independently_and_each_starts_when_due() -> None:
    rig = Rig(make_pod({"name": "a"}, {"name": "b"}), dies_after={"a": 0, "b": 3})
    rig.begin()
    rig.run_until(40)
    assert [moment for moment, name, _ in rig.starts if name == "a"] == [0, 0, 10, 30]
    assert [moment for moment, name, _ in rig.starts if name == "b"] == [0, 3, 16, 39]


def test_a_refused_start_is_announced_once_a_wait_with_the_kubelets_words() -> None:
    rig = Rig(make_pod(), dies_after={"app": 0})
    rig.begin()
    rig.run_until(15)
    assert [message for reason, message in rig.events if reason == "BackOff"] == [
        "Back-off restarting failed container app in pod web_default(u1)"
    ] * 2
    status = rig.published[-1].containers["app"]
    assert (status.state, status.reason) == ("waiting", "CrashLoopBackOff")
    assert status.message == "back-off 20s restarting failed container=app pod=web_default(u1)"
    assert status.container_id == "t://app-2"
    assert status.restart_count == 2
    assert status.last_exit is not None
    assert status.last_exit.exit_code == 1
    assert rig.machine.waits["app"].due_ns == 30 * SECOND
    assert rig.machine.phase == "Running"
