"""Which instances of containers the prober is shown."""

import pytest
from probelet.beside.pods.api_pod import ApiContainer
from probelet.beside.pods.begun import Begun
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State

ID = "containerd://1"


def looked(begun: Begun, state: State, *, told: bool = True) -> list[State]:
    known = {"app": ApiContainer(ID, "running", started=True, reason="", message="")} if told else {}
    snapshot = Snapshot(containers=(ContainerRecord(ID, "app", state),))
    return [record.state for record in begun.observe(snapshot, known, is_away=False).containers]


@pytest.mark.parametrize("state", [State.CREATED, State.RUNNING, State.UNKNOWN])
def test_an_instance_that_has_not_begun_is_not_shown(state: State) -> None:
    """The prober would take an ID that does not run for a container that failed."""
    assert looked(Begun(()), state, told=False) == []


def test_an_instance_that_is_only_created_is_not_shown_whatever_the_kubelet_wrote() -> None:
    assert looked(Begun(()), State.CREATED) == []


def test_an_instance_that_has_begun_runs_on_while_the_runtime_does_not_know_its_state() -> None:
    begun = Begun(())
    assert looked(begun, State.RUNNING) == [State.RUNNING]
    assert looked(begun, State.UNKNOWN, told=False) == [State.RUNNING]
    assert looked(begun, State.RUNNING, told=False) == [State.RUNNING]


@pytest.mark.parametrize("state", [State.ENDED, State.EXITED])
def test_an_instance_that_has_ended_is_shown_and_never_begins_again(state: State) -> None:
    begun = Begun(())
    assert looked(begun, State.RUNNING) == [State.RUNNING]
    assert looked(begun, state) == [state]
    assert ID not in begun
