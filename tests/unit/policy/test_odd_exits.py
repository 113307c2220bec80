"""Exits that the runtime tells oddly: without a time, twice, or not any more."""

from dataclasses import replace

from probelet.policy.action import Observed, SyncRequested
from probelet.policy.gate import RestartGate
from probelet.policy.snapshot import State
from rig import SECOND, Rig, make_pod, record


def waiting() -> Rig:
    """Restarted at 0 and 10 s; at 12 s it waits for the end of its 20 s."""
    rig = Rig(make_pod(), dies_after={"app": 0})
    rig.begin()
    rig.run_until(12)
    assert rig.machine.waits["app"].due_ns == 30 * SECOND
    return rig


def moments(rig: Rig) -> list[float]:
    return [at for at, _, _ in rig.starts]


def test_an_exit_without_a_time_is_long_ago_and_its_delay_goes_on_doubling() -> None:
    # A day after the zero of the clock, as in the engine.
    gate, pod, now = RestartGate(), make_pod(), 86_400 * SECOND
    (container,) = pod.spec.containers
    for finished_ns in (now, None, None):
        exited = record(pod, "app", State.EXITED, exit_code=1, finished_ns=finished_ns)
        assert gate.decide(pod, container, exited, now).word == "start"
    exited = record(pod, "app", State.EXITED, exit_code=1, finished_ns=now)
    assert gate.decide(pod, container, exited, now).delay_ns == 40 * SECOND


def test_of_two_exits_the_newer_one_counts() -> None:
    rig = waiting()
    (newest, *_) = rig.snapshot.containers
    older = replace(newest, id="t://older", finished_ns=0, restart_count=0, created_at_ns=-1)
    rig.snapshot = replace(rig.snapshot, containers=(newest, older))
    rig.give(Observed(rig.snapshot))
    rig.give(SyncRequested())
    rig.run_until(40)
    assert moments(rig) == [0, 0, 10, 30]


def test_a_container_whose_exit_the_runtime_has_forgotten_is_not_charged_for_its_start() -> None:
    rig = waiting()
    rig.snapshot = replace(rig.snapshot, containers=())
    rig.give(Observed(rig.snapshot))
    rig.run_until(60)
    # That a dead container has gone is no news to a pod. When its wait is over nothing has exited, as for a kubelet:
    # the next exit finds the 20 s as they were.
    assert moments(rig) == [0, 0, 10, 30, 50]
