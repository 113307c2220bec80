"""Back-off of sidecars, init containers, jobs and restart rules, and the bounds of the kubelet's own node tests."""

import pytest

from tests.unit.policy.rig import Rig, gate, make_pod


def moments(rig: Rig, name: str) -> list[float]:
    return [at for at, started, _ in rig.starts if started == name]


def test_a_sidecar_that_crashes_waits_on_the_curve_also_in_a_pod_that_never_restarts() -> None:
    pod = make_pod({"name": "app"}, init=[{"name": "side", "restartPolicy": "Always"}], restartPolicy="Never")
    rig = Rig(pod, gate(1, 60), dies_after={"side": 0})
    rig.begin()
    rig.run_until(20)
    assert moments(rig, "side") == [0, 0, 1, 3, 7, 15]
    assert moments(rig, "app") == [0]


def test_an_init_container_of_a_job_is_charged_on_the_curve_and_holds_up_the_rest() -> None:
    pod = make_pod({"name": "app"}, init=[{"name": "init"}], restartPolicy="OnFailure")
    rig = Rig(pod, gate(1, 60), dies_after={"init": 0})
    rig.begin()
    rig.run_until(20)
    assert moments(rig, "init") == [0, 0, 1, 3, 7, 15]
    assert moments(rig, "app") == []


def test_a_job_that_succeeds_is_not_restarted_and_one_that_fails_is_charged() -> None:
    pod = make_pod({"name": "good"}, {"name": "bad"}, restartPolicy="OnFailure")
    rig = Rig(pod, gate(1, 60), dies_after={"good": 0, "bad": 0}, exit_code={"bad": 1})
    rig.begin()
    rig.run_until(20)
    assert moments(rig, "good") == [0]
    assert moments(rig, "bad") == [0, 0, 1, 3, 7, 15]


def test_a_failed_job_under_never_is_not_restarted() -> None:
    rig = Rig(make_pod(restartPolicy="Never"), gate(1, 60), dies_after={"app": 5})
    rig.begin()
    rig.run_until(60)
    assert moments(rig, "app") == [0]
    assert rig.machine.phase == "Failed"


def test_a_restart_rule_in_a_pod_that_never_restarts_goes_through_the_same_back_off() -> None:
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
    pod = make_pod({"name": "app", "restartPolicy": "Never", "restartPolicyRules": [rule]}, restartPolicy="Never")
    rig = Rig(pod, gate(1, 60), dies_after={"app": 0}, exit_code=42)
    rig.begin()
    rig.run_until(20)
    assert moments(rig, "app") == [0, 0, 1, 3, 7, 15]


def test_success_under_always_is_charged_like_a_crash() -> None:
    rig = Rig(make_pod(), dies_after={"app": 0}, exit_code=0)
    rig.begin()
    rig.run_until(100)
    assert moments(rig, "app") == [0, 0, 10, 30, 70]


# Kubernetes' own node tests (test/e2e_node/container_restart_test.go, 1.36) poll the container after 30 s until it has
# restarted three times, for at most five minutes; then they allow this many restarts.
# An exact timer has made the three restarts by then, so the test knows the moment and the count.
@pytest.mark.parametrize(
    ("curve", "restarts", "most"),
    [((10, 300), 3, 7), ((10, 30), 3, 13), ((1, 60), 5, 13), ((1, 1), 31, 298)],
    ids=str,
)
def test_upstreams_bounds_hold_when_upstream_polls(curve: tuple[int, int], restarts: int, most: int) -> None:
    rig = Rig(make_pod(), gate(*curve), dies_after={"app": 0})
    rig.begin()
    rig.run_until(30)
    assert len(rig.starts) - 1 == restarts <= most


def test_an_exit_at_the_very_end_of_its_delay_starts_at_that_nanosecond() -> None:
    rig = Rig(make_pod(), gate(1.5, 1.5), dies_after={"app": 0})
    rig.begin()
    rig.run_until(4.5)
    assert moments(rig, "app") == [0, 0, 1.5, 3, 4.5]
