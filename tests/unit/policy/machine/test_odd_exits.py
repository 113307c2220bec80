"""Exits that the runtime reports without a time, reports twice, or has forgotten."""

from msgspec.structs import replace
from probelet.policy.facts.snapshot import State
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.inputs import Due, Observed, SyncRequested

from tests.unit.policy.rig import SECOND, Rig, make_pod, record


def waiting() -> Rig:
    """A rig at 12 s, whose container restarted at 0 and 10 s and now waits for the end of its 20 s."""
    rig = Rig(make_pod(), dies_after={"app": 0})
    rig.begin()
    rig.run_until(12)
    assert rig.machine.waits["app"].due_ns == 30 * SECOND
    return rig


def moments(rig: Rig) -> list[float]:
    return [at for at, _, _ in rig.starts]


def test_an_exit_without_a_time_counts_as_long_ago_and_its_delay_keeps_doubling() -> None:
    # The clock starts at a day, as the engine's clock does.
    gate, pod, now = RestartGate(), make_pod(), 86_400 * SECOND
    (container,) = pod.spec.containers
    for finished_ns in (now, None, None):
        exited = record(pod, "app", State.EXITED, exit_code=1, finished_ns=finished_ns)
        assert gate.decide(pod, container, exited, now).word == "start"
    exited = record(pod, "app", State.EXITED, exit_code=1, finished_ns=now)
    assert gate.decide(pod, container, exited, now).delay_ns == 40 * SECOND


def test_the_newer_of_two_exits_decides() -> None:
    rig = waiting()
    (newest, *_) = rig.snapshot.containers
    older = replace(newest, id="t://older", finished_ns=0, restart_count=0, created_at_ns=-1)
    rig.snapshot = replace(rig.snapshot, containers=(newest, older))
    rig.handle(Observed(rig.snapshot))
    rig.handle(SyncRequested())
    rig.run_until(40)
    assert moments(rig) == [0, 0, 10, 30]


def test_a_container_whose_exit_the_runtime_has_forgotten_is_not_charged_for_its_start() -> None:
    rig = waiting()
    rig.snapshot = replace(rig.snapshot, containers=())
    rig.handle(Observed(rig.snapshot))
    rig.run_until(60)
    # The removal of a dead container asks for no sync. When the wait ends, no exit is known, as in the kubelet, so the
    # next exit finds the delay of 20 s unchanged.
    assert moments(rig) == [0, 0, 10, 30, 50]


def test_a_failed_probe_of_a_waiting_container_kills_nothing() -> None:
    rig = waiting()
    rig.probe_fails("liveness", rig.snapshot.containers[0].id)
    rig.probe_fails("startup", rig.snapshot.containers[0].id)
    rig.run_until(40)
    assert rig.kills == []
    assert moments(rig) == [0, 0, 10, 30]


def test_a_node_that_slept_for_ten_minutes_starts_waiting_containers_at_once_and_resets_their_delay() -> None:
    rig = waiting()
    rig.now = 700 * SECOND
    rig.handle(Due())
    rig.settle()
    # The entry of 20 s was unused for more than ten minutes.
    rig.run_until(731)
    assert moments(rig) == [0, 0, 10, 700, 710, 730]


def test_a_new_image_in_the_middle_of_a_wait_starts_at_once_and_the_old_delay_is_dropped_in_time() -> None:
    rig = waiting()
    gate, (before,) = RestartGate(), rig.pod.spec.containers
    newer = make_pod({"name": "app", "image": "i:2"})
    (after,) = newer.spec.containers
    exited = record(rig.pod, "app", State.EXITED, exit_code=1, finished_ns=0)
    assert gate.decide(rig.pod, before, exited, 0).word == "start"
    assert gate.decide(rig.pod, before, exited, 1 * SECOND).due_ns == 10 * SECOND
    # A changed manifest makes another pod, so the gate forgets the previous pod.
    gate.forget(rig.pod, 1 * SECOND)
    assert gate.decide(newer, after, exited, 1 * SECOND).free
    assert [gate.entries(at * SECOND) for at in (601, 602)] == [2, 1]
    assert gate.step(newer, after) == 1
