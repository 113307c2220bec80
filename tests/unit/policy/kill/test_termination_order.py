"""Sidecars get their stop signal after the containers that may need them, within the pod's grace."""

from probelet.policy.kill.termination_order import TerminationOrder
from probelet.policy.protocol.inputs import Terminate

from tests.unit.policy.rig import Rig, make_pod

SIDECARS = [{"name": "first", "restartPolicy": "Always"}, {"name": "second", "restartPolicy": "Always"}]


def test_a_sidecar_waits_for_regular_containers_and_for_later_sidecars() -> None:
    pod = make_pod({"name": "a"}, {"name": "b"}, init=[{"name": "setup"}, *SIDECARS])
    order = TerminationOrder(pod, ["a", "b", "setup", "first", "second"])
    assert [name for name in ("a", "b", "setup", "first", "second") if order.is_turn(name)] == ["a", "b", "setup"]
    order.terminated("b")
    assert not order.is_turn("second")
    order.terminated("a")
    assert (order.is_turn("second"), order.is_turn("first")) == (True, False)
    order.terminated("second")
    assert order.is_turn("first")


def test_no_sidecar_waits_for_a_container_that_does_not_run() -> None:
    pod = make_pod({"name": "a"}, init=SIDECARS)
    assert TerminationOrder(pod, ["first"]).is_turn("first")


def kills(rig: Rig) -> list[tuple[float, str, int]]:
    return [(when, kill.name, kill.grace_seconds) for when, kill in rig.kills]


def test_sidecars_stop_in_reverse_order_with_the_rest_of_the_grace() -> None:
    rig = Rig(make_pod(init=SIDECARS), kill_takes={"app": 5.5, "second": 3, "first": 1})
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(100)
    assert kills(rig) == [(0, "app", 30), (5.5, "second", 25), (8.5, "first", 22)]
    assert rig.gone


def test_at_the_end_of_the_grace_all_sidecars_are_killed() -> None:
    rig = Rig(make_pod(init=SIDECARS, terminationGracePeriodSeconds=10), kill_takes=99)
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(100)
    assert kills(rig) == [(0, "app", 10), (10, "second", 2), (10, "first", 2)]
    assert rig.ends == [(10, "app"), (12, "second"), (12, "first")]


def test_hooks_of_sidecars_begin_at_once_and_use_up_their_own_grace() -> None:
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["bye"]}}}}
    init = [{**SIDECARS[0], **hook}]
    rig = Rig(make_pod(init=init), hook_takes={"first/preStop": 4}, kill_takes={"app": 6})
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(100)
    assert rig.hooks == [(0, "first/preStop")]
    # The hook takes four seconds, and app ends two seconds later.
    assert kills(rig) == [(0, "app", 30), (6, "first", 24)]


def test_a_probe_kill_does_not_wait_for_other_containers() -> None:
    rig = Rig(make_pod(init=SIDECARS), kill_takes=1)
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    rig.run_until(20)
    assert kills(rig) == [(0, "app", 30)]


def test_a_completed_job_ends_its_sidecars() -> None:
    rig = Rig(
        make_pod({"name": "job"}, init=SIDECARS, restartPolicy="Never"), dies_after={"job": 10}, exit_code={"job": 0}
    )
    rig.begin()
    rig.run_until(30)
    assert kills(rig) == [(10, "second", 30), (10, "first", 30)]
    assert rig.machine.phase == "Succeeded"
    assert len(rig.starts) == 3
