"""A pod's machine in virtual time, on a runtime that does what it is told at once or after a while."""

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from probelet.policy.action import (
    Action,
    Arm,
    Cancel,
    CreateContainer,
    Due,
    Effect,
    Forget,
    Input,
    InspectImage,
    KillContainer,
    Observed,
    Outcome,
    Perform,
    Performed,
    Publish,
    Pull,
    PullImage,
    Record,
    RemoveContainer,
    RemoveSandbox,
    RunHook,
    RunSandbox,
    StartContainer,
    StopProbing,
    StopSandbox,
    SyncRequested,
)
from probelet.policy.facts.probe_state import ProbeState, ResultName
from probelet.policy.lifecycle import PodMachine
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.restart import definition
from probelet.policy.snapshot import ContainerRecord, SandboxRecord, Snapshot, State
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType

SECOND = 1_000_000_000


def make_pod(*containers: dict[str, Any], init: list[dict[str, Any]] | None = None, **spec: Any) -> Pod:
    """A defaulted pod ``web`` of the given containers (``{"name": ...}``), image ``i``."""
    body = {
        "metadata": {"name": "web", "namespace": "default", "uid": "u1"},
        "spec": {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "containers": [{"image": "i", **container} for container in containers or ({"name": "app"},)],
            "initContainers": [{"image": "i", **container} for container in init or []],
            **spec,
        },
    }
    return msgspec.convert(body, Pod)


def record(pod: Pod, name: str, state: State = State.RUNNING, **fields: Any) -> ContainerRecord:
    """A container of the pod as the runtime has it, with an id that follows its name and restart count."""
    known = {c.name: c for c in (*pod.spec.containers, *pod.spec.init_containers)}
    count = fields.get("restart_count", 0)
    made = ContainerRecord(f"t://{name}-{count}", name, state, definition=definition(known[name]), sandbox_id="s0")
    return replace(made, **fields)


def sandbox(attempt: int = 0, ready: bool = True, ip: str | None = "10.0.0.1") -> SandboxRecord:
    return SandboxRecord(f"s{attempt}", ready, attempt, ip)


@dataclass
class Results:
    """What the prober has published: results by (type, container id), and the names of the started containers."""

    values: dict[tuple[ProbeType, str], ResultName] = field(default_factory=dict)
    started_names: set[str] = field(default_factory=set)


def gate(initial: float = 10, cap: float = 300, **options: Any) -> RestartGate:
    """A node's gate with a curve in seconds."""
    return RestartGate(GateOptions(initial_ns=int(initial * SECOND), max_ns=int(cap * SECOND), **options))


class Rig:
    """Drives one machine. ``step`` does the next thing that is due; everything that happened is in ``log``.

    ``dies_after`` (by container name, seconds) makes each instance exit by itself with ``exit_code``, or with that of
    its name. ``kill_takes`` seconds is how long a killed container needs, at most its grace, or by its name, and
    ``call_takes`` every other effect. ``hook_takes`` seconds (by ``container/hook``) is how long a hook needs. ``fail``
    maps an effect's type, or a hook's ``container/hook``, to an error. ``images`` are those the node has; without it
    containers are made from none.
    """

    def __init__(self, pod: Pod, start_gate: RestartGate | None = None, **options: Any) -> None:
        self.now = 0
        self.pod = pod
        self.results = Results()
        start_gate = gate() if start_gate is None else start_gate
        self.images: set[str] | None = options.get("images")
        self.machine = PodMachine(
            pod,
            start_gate,
            probe_grace=options.get("probe_grace", True),
            images=self.images is not None,
        )
        self.snapshot = Snapshot()
        self.dies_after: dict[str, float] = options.get("dies_after", {})
        self.exit_code: int | dict[str, int] = options.get("exit_code", 1)
        self.kill_takes: float | dict[str, float] = options.get("kill_takes", 0)
        self.call_takes: float = options.get("call_takes", 0)
        self.hook_takes: dict[str, float] = options.get("hook_takes", {})
        self.fail: dict[type | str, str] = options.get("fail", {})
        self.actions: list[Action] = []
        self.starts: list[tuple[float, str, int]] = []
        self.kills: list[tuple[float, KillContainer]] = []
        self.hooks: list[tuple[float, str]] = []
        self.pulls: list[tuple[float, str]] = []
        self.ends: list[tuple[float, str]] = []
        self.gone = False
        self._due: list[tuple[int, int, str, Any]] = []
        self._order = 0
        self._deadline: int | None = None
        self._creating: dict[str, CreateContainer] = {}

    def give(self, given: Input) -> list[Action]:
        """One input, and the carrying out of what it leads to."""
        actions = self.machine.handle(self.now, given, self.probe_state(given))
        self.actions += actions
        for action in actions:
            self._do(action)
        return actions

    def probe_state(self, given: Input) -> ProbeState:
        """What the prober has published at the moment of this input."""
        return ProbeState(dict(self.results.values), frozenset(self.results.started_names))

    def begin(self) -> None:
        self.give(Observed(self.snapshot))
        self.settle()

    def settle(self) -> None:
        """Everything that is due now."""
        while self._due and self._due[0][0] <= self.now:
            self.step()

    def step(self) -> None:
        """Advance to the next thing that happens and let it happen."""
        self._due.sort()
        moments = [entry[0] for entry in self._due[:1]]
        if self._deadline is not None:
            moments.append(self._deadline)
        assert moments, "nothing will ever happen"
        self.now = max(self.now, min(moments))
        if self._due and self._due[0][0] <= self.now:
            _, _, what, given = self._due.pop(0)
            self._happen(what, given)
        else:
            self._deadline = None
            self.give(Due())
        self.settle()

    def run_until(self, seconds: float) -> None:
        while self._due or self._deadline is not None:
            self._due.sort()
            upcoming = [entry[0] for entry in self._due[:1]] + ([self._deadline] if self._deadline is not None else [])
            if min(upcoming) > seconds * SECOND:
                break
            self.step()
        self.now = int(seconds * SECOND)

    def at(self, seconds: float, what: str, given: Any) -> None:
        """``exit`` a container id, or ``give`` an input, at a time."""
        self._order += 1
        self._due.append((int(seconds * SECOND), self._order, what, given))

    def probe_fails(self, probe_type: str, container_id: str) -> None:
        self.results.values[probe_type, container_id] = "Failure"
        self.give(SyncRequested())
        self.settle()

    @property
    def events(self) -> list[tuple[str, str]]:
        return [(action.reason, action.message) for action in self.actions if isinstance(action, Record)]

    @property
    def published(self) -> list[Publish]:
        return [action for action in self.actions if isinstance(action, Publish)]

    # What happens.

    def _happen(self, what: str, given: Any) -> None:
        match what:
            case "exit":
                name = next(r.name for r in self.snapshot.containers if r.id == given)
                code = self.exit_code if isinstance(self.exit_code, int) else self.exit_code.get(name, 0)
                if self._exit(given, code):
                    self.give(Observed(self.snapshot))
            case "give":
                self.give(given)
            case "performed":
                perform, outcomes = given
                self.give(Performed(perform.ticket, outcomes(), self.snapshot))

    def _do(self, action: Action) -> None:
        match action:
            case Perform():
                takes = max(self._takes(effect) for effect in action.effects)
                ends = self.now / SECOND + takes
                self.at(ends, "performed", (action, lambda: tuple(self._effect(e) for e in action.effects)))
                self._due.sort()
            case Cancel(ticket):
                entry = next(e for e in self._due if e[2] == "performed" and e[3][0].ticket == ticket)
                self._due.remove(entry)
                given_up = tuple(Outcome(error="rpc error: code = Canceled") for _ in entry[3][0].effects)
                self.at(self.now / SECOND, "performed", (entry[3][0], lambda: given_up))
            case Arm(deadline):
                self._deadline = deadline
            case Forget():
                self.gone = True
            case Record() | Publish() | StopProbing():
                pass

    def _takes(self, effect: Effect) -> float:
        if isinstance(effect, KillContainer):
            self.kills.append((self.now / SECOND, effect))
            takes = self.kill_takes if not isinstance(self.kill_takes, dict) else self.kill_takes.get(effect.name, 0)
            return min(takes, effect.grace_seconds)
        if isinstance(effect, RunHook):
            self.hooks.append((self.now / SECOND, _hook_key(effect)))
            return self.hook_takes.get(_hook_key(effect), 0)
        if isinstance(effect, PullImage):
            self.pulls.append((self.now / SECOND, effect.image))
        return self.call_takes

    def _effect(self, effect: Effect) -> Outcome:
        if error := self.fail.get(_hook_key(effect) if isinstance(effect, RunHook) else type(effect)):
            return Outcome(error=f"rpc error: code = Unknown desc = {error}", detail=error)
        match effect:
            case RunSandbox(attempt):
                made = sandbox(attempt)
                self.snapshot = replace(self.snapshot, sandboxes=(made, *self.snapshot.sandboxes))
                return Outcome(id=made.id)
            case StopSandbox(sandbox_id):
                boxes = tuple(replace(b, ready=b.ready and b.id != sandbox_id) for b in self.snapshot.sandboxes)
                self.snapshot = replace(self.snapshot, sandboxes=boxes)
            case RemoveSandbox(sandbox_id):
                left = tuple(b for b in self.snapshot.sandboxes if b.id != sandbox_id)
                self.snapshot = replace(self.snapshot, sandboxes=left)
            case InspectImage(image):
                return Outcome(id=f"sha256:{image}" if image in (self.images or ()) else "")
            case PullImage(image):
                return Outcome(id=f"sha256:{image}", pull=Pull(1_234_567_890, 2_000_000_000, 4096))
            case CreateContainer():
                made_id = f"t://{effect.container.name}-{effect.restart_count}"
                self._creating[made_id] = effect
                return Outcome(id=made_id)
            case StartContainer(name, container_id):
                self._start(name, container_id)
            case KillContainer():
                self._exit(effect.container_id, 137)
            case RemoveContainer(_, container_id):
                kept = tuple(r for r in self.snapshot.containers if r.id != container_id)
                self.snapshot = replace(self.snapshot, containers=kept)
        return Outcome()

    def _start(self, name: str, container_id: str) -> None:
        created = self._creating.pop(container_id)
        made = record(
            self.pod,
            name,
            restart_count=created.restart_count,
            started_at_ms=self.now // 1_000_000,
            sandbox_id=created.sandbox_id,
        )
        self.snapshot = replace(self.snapshot, containers=(made, *self.snapshot.containers))
        self.starts.append((self.now / SECOND, name, created.restart_count))
        if name in self.dies_after:
            self.at(self.now / SECOND + self.dies_after[name], "exit", container_id)

    def _exit(self, container_id: str, code: int) -> bool:
        alive = [r for r in self.snapshot.containers if r.id == container_id and r.state is State.RUNNING]
        dead = tuple(
            replace(
                r, state=State.EXITED, exit_code=code, reason="Error" if code else "Completed",
                finished_ns=self.now, finished_at_ms=self.now // 1_000_000,
            )
            if r in alive else r
            for r in self.snapshot.containers
        )  # fmt: skip
        self.snapshot = replace(self.snapshot, containers=dead)
        self.ends += [(self.now / SECOND, r.name) for r in alive]
        return bool(alive)


def _hook_key(effect: RunHook) -> str:
    return f"{effect.container.name}/{effect.hook}"
