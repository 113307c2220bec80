"""T-20: each row of the table of a container's situation."""

import pytest
from probelet.beside.guard.objects.recreate_request import RecreateState
from probelet.beside.guard.recreate.progress import Progress
from probelet.beside.guard.recreate.situation import Instance, situations

from tests.unit.beside.guard.recreate.made_request import made, new, old, seen, snapshot_of, view

FORCE = {"forceRecreate": True}


def state(phase: str, *, killed: bool = False, message: str = "") -> RecreateState:
    return RecreateState(name="app", phase=phase, message=message, is_killed=killed)


def found(before: RecreateState | None = None, *, instance: Instance | None = None, **given: object) -> RecreateState:
    strategy, annotations = given.pop("strategy", {}), given.pop("annotations", {})
    request = made(strategy=strategy, annotations=annotations)
    instances = {} if instance is None else {"app": instance}
    progress = Progress("Recreating", () if before is None else (before,))
    [result] = situations(request, progress, view(instances=instances, **given))
    return result


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_t20_an_ended_state_stays_whatever_the_container_does(phase: str) -> None:
    assert found(state(phase, message="m"), instance=old("app")) == state(phase, message="m")


def test_t20_a_container_that_is_not_on_the_node_is_pending() -> None:
    assert found() == state("Pending", message="not found container on Node")
    assert found(state("Recreating", killed=True)) == state(
        "Pending", killed=True, message="not found container on Node"
    )


def test_t20_an_exited_container_is_being_recreated() -> None:
    assert found(instance=old("app", state="exited")) == state("Recreating")
    assert found(instance=old("app", state="exited"), strategy=FORCE) == state("Recreating")


def test_t20_the_instance_that_is_meant_is_pending() -> None:
    assert found(instance=old("app")) == state("Pending")
    assert found(instance=old("app", state="created")) == state("Pending")


def test_t20_another_instance_or_a_restarted_one_is_being_recreated() -> None:
    assert found(instance=new("app")) == state("Recreating")
    assert found(instance=old("app", restart_count=1)) == state("Recreating")


def test_t20_a_forced_request_kills_a_new_container_too_but_once() -> None:
    assert found(instance=new("app"), strategy=FORCE) == state("Pending")
    assert found(state("Recreating", killed=True), instance=new("app"), strategy=FORCE) == state(
        "Recreating", killed=True
    )


def test_t20_what_is_being_killed_counts_as_recreating_and_killed() -> None:
    dying = old("app")
    assert found(instance=dying, killing={dying.id}) == state("Recreating", killed=True)
    forced = new("app")
    assert found(instance=forced, killing={forced.id}, strategy=FORCE) == state("Recreating", killed=True)


def test_t20_success_needs_the_snapshot_of_this_instance_and_its_readiness() -> None:
    annotations = snapshot_of(seen("app"))
    assert found(instance=new("app"), annotations=annotations) == state("Succeeded")
    assert found(instance=new("app"), annotations=snapshot_of(seen("app", ready=False))) == state("Recreating")
    assert found(instance=new("app"), annotations=snapshot_of(seen("app", "containerd://third"))) == state("Recreating")
    assert found(instance=new("app"), annotations=snapshot_of(seen("other"))) == state("Recreating")


def test_t20_success_needs_the_run_time_that_was_asked_for() -> None:
    annotations, strategy = snapshot_of(seen("app")), {"minStartedSeconds": 5}
    young = new("app", started_ms=1_000_000 - 5_000)
    assert found(instance=young, annotations=annotations, strategy=strategy) == state("Recreating")
    aged = new("app", started_ms=1_000_000 - 5_001)
    assert found(instance=aged, annotations=annotations, strategy=strategy) == state("Succeeded")


def test_c3_success_asks_no_clock_of_the_api_server() -> None:
    # The container started an hour before the request was created, by clocks that differ.
    long_ago = new("app", started_ms=1_000)
    assert found(instance=long_ago, annotations=snapshot_of(seen("app"))) == state("Succeeded")


def test_c8_a_note_on_disk_decides_whether_a_forced_kill_is_behind_us() -> None:
    # Noted and still the same instance: the executor died before its first step.
    assert found(instance=new("app"), strategy=FORCE, killed={"app": new("app").id}) == state("Pending")
    # Noted and another instance: the kill happened, though the API server was never told.
    assert found(instance=new("app"), strategy=FORCE, killed={"app": old("app").id}) == state("Recreating")


def test_a_snapshot_that_nobody_can_read_is_none() -> None:
    annotations = {"crr.apps.kruise.io/sync-container-statuses": "{"}
    assert found(instance=new("app"), annotations=annotations) == state("Recreating")
