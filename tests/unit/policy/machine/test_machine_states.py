"""The machine's states: the tests play every row of the table in ``policy/machine/states.py`` on a machine."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from probelet.policy.machine import states
from probelet.policy.protocol.effects import KillContainer, RemoveContainer, RemoveSandbox
from probelet.policy.protocol.inputs import Change, Due, Input, Observed, Release, Restart, SyncRequested, Terminate

from tests.unit.policy.rig import Rig, make_pod

Row = tuple[str, str, str]
ROW = re.compile(r"^\| (?P<state>[a-z]+) +\| (?P<what>\S.*?) +\| (?P<next>[a-z]+) +\|$", re.MULTILINE)
TABLE: list[Row] = [row for row in ROW.findall(states.__doc__ or "") if row[0] != "state"]

# Machines in a state. A kill takes five seconds.


def unseen() -> Rig:
    return Rig(make_pod(), kill_takes=5, call_takes=0)


def idle(**spec: Any) -> Rig:
    rig = Rig(make_pod(**spec), kill_takes=5)
    rig.begin()
    return rig


def waiting() -> Rig:
    rig = Rig(make_pod(), dies_after={"app": 1})
    rig.begin()
    rig.run_until(3)
    assert rig.machine.waiting_restarts() == {"app"}
    return rig


def running() -> Rig:
    rig = idle()
    rig.probe_fails("liveness", "t://app-0")
    return rig


def terminating() -> Rig:
    rig = idle()
    rig.handle(Terminate(30))
    return rig


def superseded() -> Rig:
    rig = running()
    rig.handle(Terminate(30))
    return rig


def terminated() -> Rig:
    """The pod has ended by itself, and its manifest is still there."""
    rig = Rig(make_pod(restartPolicy="Never"), dies_after={"app": 1}, exit_code=0)
    rig.begin()
    rig.run_until(5)
    return rig


def gone() -> Rig:
    rig = Rig(make_pod())
    rig.begin()
    rig.handle(Terminate(30))
    rig.settle()
    return rig


# What happens to it.


def give(given: Input) -> Callable[[Rig], object]:
    return lambda rig: rig.handle(given)


def fresh(rig: Rig) -> None:
    rig.handle(Observed(rig.snapshot))


def news(rig: Rig) -> None:
    rig.at(0, "exit", "t://app-0")
    rig.settle()


def finish(rig: Rig) -> None:
    """The only container of a pod that is never restarted ends. Stopping the sandbox then takes a second."""
    rig.call_takes = 1
    news(rig)


def kill_ends(rig: Rig) -> None:
    rig.run_until(rig.now / 10**9 + 5.5)


def kill_fails(rig: Rig) -> None:
    """The runtime shows the container running as before, which is no news."""
    rig.fail[KillContainer] = "busy"
    kill_ends(rig)


def kill_fails_and_a_sync_is_requested(rig: Rig) -> None:
    rig.handle(SyncRequested())
    kill_fails(rig)


def remove(rig: Rig) -> None:
    rig.handle(Terminate(30))
    rig.settle()


def removal_fails(rig: Rig) -> None:
    rig.fail |= {RemoveContainer: "busy", RemoveSandbox: "busy"}
    remove(rig)


def ends_and_is_removed_slowly(rig: Rig) -> None:
    """The kill takes five seconds, the end of the sandbox one, and each removal one."""
    rig.call_takes = 1
    rig.run_until(6.5)


def slow_removal(rig: Rig) -> None:
    rig.call_takes = 1
    rig.handle(Terminate(30))


PLAYED: dict[tuple[str, str], tuple[Callable[[], Rig], Callable[[Rig], object]]] = {
    ("syncing", "a sync finds that the pod runs on"): (idle, give(SyncRequested())),
    ("syncing", "a sync finds phase Succeeded or Failed"): (lambda: idle(restartPolicy="Never"), finish),
    ("syncing", "Terminate"): (idle, give(Terminate(30))),
    ("terminating", "Terminate"): (terminating, give(Terminate(10))),
    ("terminating", "a container still runs after the kill"): (terminating, kill_fails),
    ("terminating", "every container has ended"): (terminating, ends_and_is_removed_slowly),
    ("terminated", "Terminate"): (terminated, slow_removal),
    ("terminated", "a removal failed"): (terminated, removal_fails),
    ("terminated", "removed: the runtime has nothing of it left"): (terminated, remove),
    ("gone", "Terminate"): (gone, give(Terminate(1))),
    ("unseen", "SyncRequested"): (unseen, give(SyncRequested())),
    ("unseen", "Terminate"): (unseen, give(Terminate())),
    ("unseen", "Observed"): (unseen, fresh),
    ("idle", "Observed without news"): (idle, fresh),
    ("idle", "Release of a container that does not wait"): (idle, give(Release(("app",)))),
    ("idle", "Observed with news"): (idle, news),
    ("idle", "SyncRequested"): (idle, give(SyncRequested())),
    ("idle", "Due"): (idle, give(Due())),
    ("idle", "Release of a container that waits"): (waiting, give(Release(("app",)))),
    ("idle", "Change"): (idle, give(Change(make_pod({"name": "app", "image": "j"})))),
    ("running", "Change"): (running, give(Change(make_pod({"name": "app", "image": "j"})))),
    ("idle", "Restart"): (idle, give(Restart("t://app-0", "Container app is old"))),
    ("idle", "Terminate"): (idle, give(Terminate(30))),
    ("running", "SyncRequested"): (running, give(SyncRequested())),
    ("running", "its last step ends and no sync is requested"): (running, kill_fails),
    ("running", "its last step ends and a sync is requested"): (running, kill_fails_and_a_sync_is_requested),
    ("running", "Terminate of a syncing pod"): (running, give(Terminate(30))),
    ("running", "Terminate with a shorter grace"): (terminating, give(Terminate(10))),
    ("running", "Terminate with no shorter grace"): (terminating, give(Terminate(60))),
    ("superseded", "SyncRequested"): (superseded, give(SyncRequested())),
    ("superseded", "its last call is answered"): (superseded, lambda rig: rig.settle()),
}


def test_the_table_has_exactly_the_played_rows() -> None:
    assert sorted(row[:2] for row in TABLE) == sorted(PLAYED)


@pytest.mark.parametrize(("state", "what", "expected"), TABLE, ids=lambda text: text)
def test_every_row_of_the_table(state: str, what: str, expected: str) -> None:
    make, happen = PLAYED[state, what]
    rig = make()
    assert state in names(rig)
    published = len(rig.published)
    happen(rig)
    began = len(rig.published) > published
    # A programme without work has ended by now: its published statuses show that it ran.
    assert expected in names(rig) or (expected == "running" and began)
    if expected == state == "idle":
        assert not began


def names(rig: Rig) -> set[str]:
    """The states that the machine is in: the pod's, and its programme's."""
    return {type(rig.machine.state).__name__.lower(), type(rig.machine.programme).__name__.lower()}
