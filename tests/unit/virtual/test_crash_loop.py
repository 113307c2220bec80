"""A pod on the node in virtual time is probed, killed within its grace, backed off and restarted by production code.

The delays are those of docs/crashloop.md: none, 10 s, 20 s, 40 s, 80 s, 160 s, 300 s.
"""

import pytest

from tests.unit.virtual.scene import Scene, make_pod

DEADLOCK = {"exec": {"command": ["ok"]}, "initialDelaySeconds": 5, "periodSeconds": 1, "failureThreshold": 1}
FAILS = {"app/liveness": "failure"}


def test_a_failing_liveness_probe_kills_within_the_grace_and_leads_into_crash_loop_back_off() -> None:
    """The container needs 3 s to end; 5 s after each start its probe fails again.

    The kubelet judges a container that a probe had killed by the exit of its life before. So two restarts are free, and
    from then on each end is followed by the next delay.
    """
    scene = Scene(make_pod({"name": "app", "livenessProbe": DEADLOCK}), answers=FAILS, kill=3)
    scene.run_until(990)
    assert scene.log == [
        *("0 start app", "5 kill app within 30"),
        *("8 start app", "13 kill app within 30"),
        *("16 start app", "21 kill app within 30"),
        *("34 start app", "39 kill app within 30"),  # It ended at 24: 10 s.
        *("62 start app", "67 kill app within 30"),  # It ended at 42: 20 s.
        *("110 start app", "115 kill app within 30"),  # It ended at 70: 40 s.
        *("198 start app", "203 kill app within 30"),  # It ended at 118: 80 s.
        *("366 start app", "371 kill app within 30"),  # It ended at 206: 160 s.
        *("674 start app", "679 kill app within 30"),  # It ended at 374: 300 s.
        *("682 start app", "687 kill app within 30"),  # The exit before was at 374, more than 300 s ago: no wait.
        "990 start app",  # It ended at 690: 300 s.
    ]
    crash_loops = [moment for moment, reason in scene.waiting if reason == "CrashLoopBackOff"]
    assert crash_loops == [24, 42, 70, 118, 206, 374, 690]


def test_with_its_own_exit_a_probe_kill_waits_like_any_crash() -> None:
    pod = make_pod({"name": "app", "livenessProbe": DEADLOCK})
    scene = Scene(pod, answers=FAILS, kill=3, own_exit=True)
    scene.run_until(120)
    starts = [line.removesuffix(" start app") for line in scene.log if line.endswith("start app")]
    # Each life is 5 s and 3 s to end: 8 + 0, 16 + 10, 34 + 20, 62 + 40.
    assert starts == ["0", "8", "26", "54", "102"]


ENDS = [(10, 3, 8), (10, 10, 15), (10, 60, 15), (1, 60, 7), (None, 60, 35)]


@pytest.mark.parametrize(("grace", "kill", "ends"), ENDS)
def test_a_container_ends_when_it_is_ready_to_or_when_its_grace_is_over(
    grace: int | None, kill: float, ends: float
) -> None:
    spec = {} if grace is None else {"terminationGracePeriodSeconds": grace}
    scene = Scene(make_pod({"name": "app", "livenessProbe": DEADLOCK}, **spec), answers=FAILS, kill=kill)
    scene.run_until(ends + 1)
    assert scene.log[-1] == f"{ends} start app", "no delay stands before the first restart"


def test_a_pre_stop_hook_is_a_part_of_the_grace() -> None:
    hook = {"preStop": {"sleep": {"seconds": 4}}}
    app = {"name": "app", "livenessProbe": DEADLOCK, "lifecycle": hook}
    scene = Scene(make_pod(app, terminationGracePeriodSeconds=10), answers=FAILS, kill=60)
    scene.run_until(16)
    assert scene.log == ["0 start app", "9 kill app within 6", "15 start app"]


def test_a_container_that_exits_at_once_restarts_five_times_in_five_minutes() -> None:
    scene = Scene(make_pod({"name": "app"}), runs={"app": 0})
    scene.run_until(300)
    assert scene.log == [f"{at} start app" for at in (0, 0, 10, 30, 70, 150)]
    scene.run_until(1200)
    assert scene.log[6:] == ["310 start app", "610 start app", "910 start app"]


def test_a_pod_that_never_restarts_is_killed_and_stays_down() -> None:
    scene = Scene(make_pod({"name": "app", "livenessProbe": DEADLOCK}, restartPolicy="Never"), answers=FAILS)
    scene.run_until(600)
    assert scene.log == ["0 start app", "5 kill app within 30"]
    assert scene.pod.machine.phase == "Failed"


def test_the_same_scene_goes_the_same_way_every_time() -> None:
    def play() -> tuple[list[str], list[tuple[float, str]]]:
        pod = make_pod({"name": "app", "livenessProbe": DEADLOCK}, {"name": "side"})
        scene = Scene(pod, answers=FAILS, runs={"side": 7}, kill=3)
        scene.run_until(2_000)
        return scene.log, scene.waiting

    assert play() == play()
