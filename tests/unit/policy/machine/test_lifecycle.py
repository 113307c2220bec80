"""The life of a pod in its machine: order, grace, cancellation, and removal at the end."""

from msgspec.structs import replace
from probelet.policy.facts.snapshot import State
from probelet.policy.machine.states import Terminated
from probelet.policy.protocol.actions import Arm, Cancel, Perform, Publish, Record, StopProbing
from probelet.policy.protocol.effects import (
    CreateContainer,
    KillContainer,
    RemoveContainer,
    RemoveSandbox,
    RunSandbox,
    StartContainer,
    StopSandbox,
)
from probelet.policy.protocol.inputs import Observed, SyncRequested, Terminate
from probelet.policy.rules.grace import KillReason

from tests.unit.policy.rig import SECOND, Rig, gate, make_pod, record, sandbox


def effects(rig: Rig) -> list[str]:
    """The requested effects in order; ``+`` joins the effects of one group."""
    groups = [action.effects for action in rig.actions if isinstance(action, Perform)]
    return ["+".join(type(effect).__name__ for effect in group) for group in groups]


def test_a_new_pod_gets_a_sandbox_then_its_containers_one_after_the_other() -> None:
    rig = Rig(make_pod({"name": "a"}, {"name": "b"}))
    rig.begin()
    kinds = [RunSandbox, CreateContainer, StartContainer, CreateContainer, StartContainer]
    assert effects(rig) == [kind.__name__ for kind in kinds]
    assert [publish.phase for publish in rig.published] == ["Pending", "Running"]
    assert rig.published[-1].pod_ip == "10.0.0.1"
    assert rig.events == [("Created", "Container created"), ("Started", "Container started")] * 2
    assert not [action for action in rig.actions if isinstance(action, Arm)], "nothing to do, nothing armed"


def test_a_sync_that_finds_nothing_new_only_publishes() -> None:
    rig = Rig(make_pod())
    rig.begin()
    assert [type(action) for action in rig.handle(SyncRequested())] == [Publish]


def test_requests_during_a_kill_lead_to_one_sync_after_the_kill() -> None:
    rig = Rig(make_pod({"name": "a"}, {"name": "b"}), kill_takes=4)
    rig.begin()
    rig.probe_fails("liveness", "t://a-0")
    before = len(rig.published)
    for _ in range(3):
        rig.handle(SyncRequested())
    assert len(rig.published) == before, "a kill blocks its pod"
    rig.run_until(10)
    assert len(rig.published) == before + 1
    assert rig.starts[2:] == [(4, "a", 1)]


def test_containers_of_one_sync_are_killed_one_after_the_other_before_any_is_started() -> None:
    rig = Rig(make_pod({"name": "a"}, {"name": "b"}), kill_takes=3)
    rig.begin()
    rig.results.values["liveness", "t://a-0"] = "Failure"
    rig.probe_fails("startup", "t://b-0")
    rig.run_until(20)
    assert [(when, kill.name, kill.reason) for when, kill in rig.kills] == [
        (0, "a", KillReason.LIVENESS),
        (3, "b", KillReason.STARTUP),
    ]
    assert rig.starts[2:] == [(6, "a", 1), (6, "b", 1)]


def test_the_probes_own_grace_reaches_the_runtime_raised_to_the_minimum() -> None:
    probe = {"tcpSocket": {"port": 1}, "terminationGracePeriodSeconds": 1}
    rig = Rig(make_pod({"name": "app", "livenessProbe": probe}), kill_takes=60)
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    ((_, kill),) = rig.kills
    assert (kill.grace_seconds, kill.grace_source) == (2, "probe")


def test_a_failed_create_is_tried_again_after_ten_seconds_without_back_off() -> None:
    rig = Rig(make_pod(), fail={CreateContainer: "no command"})
    rig.begin()
    assert ("Failed", "Error: no command") in rig.events
    status = rig.published[-1].containers["app"]
    assert (status.state, status.reason, status.message) == ("waiting", "CreateContainerError", "no command")
    rig.run_until(35)
    assert [action.deadline_ns for action in rig.actions if isinstance(action, Arm) and action.deadline_ns] == [
        10 * SECOND,
        20 * SECOND,
        30 * SECOND,
        40 * SECOND,
    ]
    rig.fail.clear()
    rig.run_until(41)
    assert rig.starts == [(40, "app", 0)]
    assert rig.published[-1].containers["app"].state == "running"


def test_a_container_that_does_not_start_is_an_event_without_its_id() -> None:
    rig = Rig(make_pod(), fail={StartContainer: 'failed to start container "app-0": no such file'})
    rig.begin()
    assert ("Failed", 'Error: failed to start container "app": no such file') in rig.events
    assert rig.published[-1].containers["app"].reason == "RunContainerError"
    assert [action.deadline_ns for action in rig.actions if isinstance(action, Arm)] == [10 * SECOND], "no hot loop"


def test_a_failed_sandbox_is_an_event_and_no_container_is_created() -> None:
    rig = Rig(make_pod(), fail={RunSandbox: "no address left"})
    rig.begin()
    message = "Failed to create pod sandbox: rpc error: code = Unknown desc = no address left"
    assert rig.events == [("FailedCreatePodSandBox", message)]
    assert effects(rig) == ["RunSandbox"]


def test_a_failed_kill_starts_nothing_and_is_tried_again() -> None:
    rig = Rig(make_pod(), fail={KillContainer: "socket closed"})
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    assert len(rig.starts) == 1
    rig.fail.clear()
    rig.run_until(11)
    assert [when for when, _ in rig.kills] == [0, 10]
    assert rig.starts[1:] == [(10, "app", 1)]


def test_only_the_newest_dead_container_is_kept() -> None:
    rig = Rig(make_pod(), gate(1e-9, 1e-9), dies_after={"app": 1})
    rig.begin()
    rig.run_until(3.5)
    assert [(r.restart_count, str(r.state)) for r in rig.snapshot.containers] == [(3, "running"), (2, "exited")]
    removed = [e for a in rig.actions if isinstance(a, Perform) for e in a.effects if isinstance(e, RemoveContainer)]
    assert [effect.container_id for effect in removed] == ["t://app-0", "t://app-1"]


def test_a_removed_pod_is_killed_at_once_within_its_grace_and_leaves_nothing() -> None:
    rig = Rig(make_pod({"name": "a"}, {"name": "b"}), kill_takes=5)
    rig.begin()
    rig.actions.clear()
    rig.handle(Terminate())
    rig.run_until(60)
    assert {(when, kill.name, kill.grace_seconds) for when, kill in rig.kills} == {(0, "a", 30), (0, "b", 30)}
    assert effects(rig) == [
        "KillContainer",
        "KillContainer",
        "StopSandbox",
        "RemoveContainer+RemoveContainer",
        "RemoveSandbox",
    ]
    assert {message for reason, message in rig.events if reason == "Killing"} == {
        "Stopping container a",
        "Stopping container b",
    }
    assert [(publish.phase, publish.terminating) for publish in rig.published] == [("Running", True), ("Failed", True)]
    stop = next(n for n, action in enumerate(rig.actions) if isinstance(action, StopProbing))
    last_kill = max(
        n for n, a in enumerate(rig.actions) if isinstance(a, Perform) and isinstance(a.effects[0], StopSandbox)
    )
    assert stop > last_kill, "readiness is probed while the pod ends"
    assert rig.gone
    assert (rig.snapshot.sandboxes, rig.snapshot.containers) == ((), ())


def test_a_removed_pod_does_not_wait_for_a_probe_kill_in_flight() -> None:
    probe = {"tcpSocket": {"port": 1}, "terminationGracePeriodSeconds": 3600}
    rig = Rig(make_pod({"name": "app", "livenessProbe": probe}, terminationGracePeriodSeconds=5), kill_takes=9999)
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    rig.run_until(10)
    assert any(isinstance(action, Cancel) for action in rig.handle(Terminate()))
    rig.run_until(100)
    assert [(when, kill.grace_seconds) for when, kill in rig.kills] == [(0, 3600), (10, 5)]
    assert rig.gone
    assert len(rig.starts) == 1


def test_a_pod_in_back_off_ends_without_waiting_and_never_starts_again() -> None:
    rig = Rig(make_pod(), dies_after={"app": 0})
    rig.begin()
    rig.run_until(5)
    rig.handle(Terminate())
    rig.run_until(500)
    assert rig.gone
    assert len(rig.starts) == 2


def test_a_second_request_shortens_the_grace_and_a_grace_of_zero_kills_at_once() -> None:
    rig = Rig(make_pod(), kill_takes=9999)
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(3)
    rig.handle(Terminate(grace_seconds=60))
    assert len(rig.kills) == 1, "a longer grace changes nothing"
    rig.handle(Terminate(grace_seconds=10))
    rig.settle()
    rig.run_until(5)
    rig.handle(Terminate(at_once=True))
    rig.settle()
    assert [(when, kill.grace_seconds) for when, kill in rig.kills] == [(0, 30), (3, 10), (5, 0)]
    assert rig.gone


def test_a_pod_removed_while_its_sandbox_is_made_ends_before_anything_starts() -> None:
    rig = Rig(make_pod())
    rig.handle(Observed(rig.snapshot))
    rig.handle(Terminate())
    rig.settle()
    assert rig.gone
    assert rig.starts == []
    assert rig.snapshot.sandboxes == ()


def test_a_pod_that_completes_stops_its_sandbox_and_stays_until_it_is_removed() -> None:
    rig = Rig(make_pod(restartPolicy="Never"), dies_after={"app": 5}, exit_code=0)
    rig.begin()
    rig.run_until(10)
    assert isinstance(rig.machine.state, Terminated)
    assert rig.machine.phase == "Succeeded"
    assert not rig.snapshot.sandboxes[0].ready
    assert rig.snapshot.containers, "its exit can still be read"
    rig.handle(Terminate())
    rig.settle()
    assert rig.gone
    assert effects(rig)[-2:] == [RemoveContainer.__name__, RemoveSandbox.__name__]


def test_a_failing_container_of_an_on_failure_pod_restarts_until_it_succeeds() -> None:
    rig = Rig(make_pod(restartPolicy="OnFailure"), dies_after={"app": 1})
    rig.begin()
    rig.run_until(2.5)
    rig.exit_code = 0
    rig.run_until(100)
    assert [count for _, _, count in rig.starts] == [0, 1, 2]
    assert rig.machine.phase == "Succeeded"


def test_a_container_that_the_pod_does_not_name_is_killed_with_it() -> None:
    rig = Rig(make_pod())
    rig.begin()
    stranger = replace(rig.snapshot.containers[0], id="t://stranger-0", name="stranger")
    rig.snapshot = replace(rig.snapshot, containers=(*rig.snapshot.containers, stranger))
    rig.handle(Observed(rig.snapshot))
    rig.handle(Terminate())
    rig.settle()
    assert sorted(kill.name for _, kill in rig.kills) == ["app", "stranger"]


def test_the_newest_dead_instance_of_each_container_is_kept_beside_those_that_run() -> None:
    pod = make_pod({"name": "a"}, {"name": "b"})
    rig = Rig(pod)
    rig.begin()
    dead = [record(pod, "a", State.EXITED, restart_count=count) for count in (1, 0)]
    rig.snapshot = replace(rig.snapshot, containers=(record(pod, "a", restart_count=2), record(pod, "b"), *dead))
    rig.handle(Observed(rig.snapshot))
    rig.settle()
    groups = [action.effects for action in rig.actions if isinstance(action, Perform)]
    removed = [effect.container_id for group in groups for effect in group if isinstance(effect, RemoveContainer)]
    assert removed == ["t://a-0"]


def test_an_event_about_a_container_says_where_in_the_pod_it_is() -> None:
    rig = Rig(make_pod(init=[{"name": "side", "restartPolicy": "Always"}]))
    rig.begin()
    records = [action for action in rig.actions if isinstance(action, Record) and action.reason == "Started"]
    assert [action.field_path for action in records] == ["spec.initContainers{side}", "spec.containers{app}"]


def test_old_sandboxes_go_once_they_have_ended_and_no_container_is_in_them() -> None:
    pod = make_pod({"name": "a"}, {"name": "b"})
    rig = Rig(pod)
    rig.begin()
    boxes = (sandbox(3), sandbox(1, ready=False), sandbox(0, ready=False))
    running = tuple(record(pod, name, sandbox_id="s3") for name in ("a", "b"))
    dead = record(pod, "a", State.EXITED, restart_count=1, sandbox_id="s1")
    rig.snapshot = replace(rig.snapshot, sandboxes=boxes, containers=(*running, dead))
    rig.handle(Observed(rig.snapshot))
    rig.settle()
    groups = [action.effects for action in rig.actions if isinstance(action, Perform)]
    removed = [effect.sandbox_id for group in groups for effect in group if isinstance(effect, RemoveSandbox)]
    assert removed == ["s0"]
