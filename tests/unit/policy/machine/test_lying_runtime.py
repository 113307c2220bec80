"""A runtime that reports nonsense gets no work without a pause."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from probelet.policy.facts.snapshot import SandboxRecord, Snapshot, State
from probelet.policy.machine.states import Terminating
from probelet.policy.protocol.actions import Action, Perform
from probelet.policy.protocol.effects import CreateContainer, KillContainer
from probelet.policy.protocol.inputs import Input, Observed, Performed, Terminate
from probelet.policy.start.pace import BURST, Pace

from tests.unit.policy.rig import SECOND, Rig, gate, make_pod, sandbox

Lie = Callable[[Snapshot, int], Snapshot]
"""Gets the truth and how often the runtime has reported before."""

SECONDS = 30
REPORTS_PER_SECOND = 100


class LyingRig(Rig):
    """A pod whose machine gets reports of ``lie``, at least ``REPORTS_PER_SECOND``."""

    def __init__(self, lie: Lie, *containers: dict[str, Any], **spec: Any) -> None:
        self.lie = lie
        self.reports = 0
        self.done: Counter[str] = Counter()
        super().__init__(make_pod(*containers, **spec))

    def handle(self, given: Input) -> list[Action]:
        if isinstance(given, Observed | Performed):
            given = replace(given, snapshot=self.lie(given.snapshot, self.reports))
            self.reports += 1
        actions = super().handle(given)
        for action in actions:
            for effect in action.effects if isinstance(action, Perform) else ():
                of = effect.container.name if isinstance(effect, CreateContainer) else getattr(effect, "name", "")
                self.done[f"{type(effect).__name__} {of}".rstrip()] += 1
        return actions

    def _log_starts(self, performed: Performed) -> None:
        """The containers that were started need not be in the report."""

    def listen(self) -> None:
        self.begin()
        for report in range(1, SECONDS * REPORTS_PER_SECOND):
            self.run_until(report / REPORTS_PER_SECOND)
            self.observe()
            self.settle()


def each(**fields: Any) -> Lie:
    """Every container with these fields."""

    def lie(truth: Snapshot, _: int) -> Snapshot:
        return replace(truth, containers=tuple(replace(found, **fields) for found in truth.containers))

    return lie


def with_sandboxes(*boxes: SandboxRecord) -> Lie:
    return lambda truth, _: replace(truth, sandboxes=boxes if truth.sandboxes else ())


def each_sandbox(**fields: Any) -> Lie:
    return lambda truth, _: replace(truth, sandboxes=tuple(replace(box, **fields) for box in truth.sandboxes))


def newer_exit(truth: Snapshot, reports: int) -> Snapshot:
    """A newer instance than each of the true ones, of another id each time, has exited without a time."""
    ghosts = (
        replace(found, id=f"{found.id}-{reports}", state=State.EXITED, finished_ns=0, created_at_ns=2**63 - 1)
        for found in truth.containers[:1]
    )
    return replace(truth, containers=(*ghosts, *truth.containers))


LONG_AGO = {"state": State.EXITED, "started_at_ms": 1, "finished_at_ms": 2, "finished_ns": 0, "exit_code": 1}
RAN_LONG = {"state": State.EXITED, "started_at_ms": 1, "finished_at_ms": 2**43, "finished_ns": None}

LIES: dict[str, Lie] = {
    "nothing is listed": lambda truth, _: Snapshot(),
    "no container is listed": lambda truth, _: replace(truth, containers=()),
    "no sandbox is listed": lambda truth, _: replace(truth, sandboxes=()),
    "everything or nothing is listed": lambda truth, reports: truth if reports % 2 else Snapshot(),
    "only the oldest container is listed": lambda truth, _: replace(truth, containers=truth.containers[-1:]),
    "every container exited long ago": each(**LONG_AGO),
    "every container exited after a long life": each(**RAN_LONG),
    "every container runs or has exited": lambda truth, reports: truth if reports % 2 else each(**LONG_AGO)(truth, 0),
    "a newer container than every one exited": newer_exit,
    "every container is only created": each(state=State.CREATED),
    "every container is in no known state": each(state=State.UNKNOWN),
    "every container has another definition": each(definition="other"),
    "every container has the id of the first": each(id="t://app-0"),
    "every container has another name": each(name="other"),
    "no sandbox is ready": each_sandbox(ready=False),
    "no sandbox has an address": each_sandbox(ip=""),
    "two sandboxes are ready": with_sandboxes(sandbox(1), sandbox(0)),
    "the sandbox has the largest attempt and is not ready": each_sandbox(ready=False, attempt=2**32 - 1),
}


@pytest.mark.parametrize("policy", ["Always", "OnFailure"])
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lying_runtime_makes_and_kills_no_more_than_a_kubelet_that_lists_every_second(lie: Lie, policy: str) -> None:
    rig = LyingRig(lie, {"name": "app"}, {"name": "side"}, restartPolicy=policy)
    rig.listen()
    most = BURST + SECONDS
    # A container is killed when it is replaced, and when its sandbox is.
    limits = {"CreateContainer": most, "StartContainer": most, "RunSandbox": most, "KillContainer": 2 * most}
    for what, count in rig.done.items():
        assert count <= limits.get(what.partition(" ")[0], count), what
    # Each new sandbox stops those before it.
    assert rig.done["StopSandbox"] <= most * max(2, rig.done["RunSandbox"])


@pytest.mark.parametrize(
    "lie", ["everything or nothing is listed", "every container runs or has exited", "no sandbox is ready"]
)
def test_a_pod_whose_work_was_put_off_runs_once_the_runtime_tells_the_truth(lie: str) -> None:
    rig = LyingRig(LIES[lie], {"name": "app"})
    rig.listen()
    rig.lie = lambda truth, _: truth
    rig.observe()
    rig.run_until(SECONDS + 2)
    assert [found.name for found in rig.snapshot.running()][:1] == ["app"]
    assert rig.snapshot.sandboxes[0].ready


def test_kills_that_fail_wait_as_well() -> None:
    def lie(truth: Snapshot, reports: int) -> Snapshot:
        return replace(each(definition="other")(truth, 0), sandboxes=(replace(sandbox(), created_at_ns=reports),))

    rig = LyingRig(lie, {"name": "app"})
    rig.fail[KillContainer] = "no"
    rig.listen()
    assert 2 <= rig.done["KillContainer app"] <= BURST + SECONDS


def test_a_pod_whose_killed_container_still_runs_has_not_ended() -> None:
    def lie(truth: Snapshot, reports: int) -> Snapshot:
        return replace(truth, containers=tuple(replace(found, state=State.RUNNING) for found in truth.containers))

    rig = LyingRig(lie, {"name": "app"})
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(60)
    assert len(rig.kills) > 1
    assert isinstance(rig.machine.state, Terminating)


def test_one_thing_is_done_ten_times_at_once_and_then_once_a_second() -> None:
    pace = Pace()
    for _ in range(10):
        assert pace.allows("start app", 0)
        pace.record("start app", 0)
    assert not pace.allows("start app", SECOND - 1)
    assert pace.due_ns == SECOND
    assert pace.allows("start app", SECOND)
    assert pace.allows("kill app", 0), "each thing has a bucket of its own"


def test_honest_restarts_with_the_shortest_delay_are_never_put_off() -> None:
    rig = Rig(make_pod({"name": "app"}), gate(1, 1), dies_after={"app": 0.001})
    rig.begin()
    rig.run_until(60)
    starts = [at for at, _, _ in rig.starts]
    ends = [at for at, _ in rig.ends]
    late = [start - end - 1 for start, end in zip(starts[2:], ends[1:], strict=False)]
    assert len(starts) > 50
    assert max(late) < 1e-6
