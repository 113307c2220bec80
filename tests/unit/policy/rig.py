"""One pod of the node in virtual time for the tests of the policy."""

from typing import Any, Literal

import msgspec
from msgspec.structs import replace
from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord, Snapshot, State
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.protocol.actions import Action, Forget, Perform, Publish, Record
from probelet.policy.protocol.effects import Effect, KillContainer, Pull, PullImage, RunHook, StartContainer
from probelet.policy.protocol.inputs import Input, Observed, Performed, SyncRequested
from probelet.policy.rules.restart import definition
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType
from probelet.virtual.agenda import Agenda, next_moment, play
from probelet.virtual.pod import NodeContext, VirtualPod
from probelet.virtual.prober import GivenResults, Prober
from probelet.virtual.workload import Workload

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
    """The runtime's record of a container; its ID consists of name and restart count."""
    known = {c.name: c for c in (*pod.spec.containers, *pod.spec.init_containers)}
    count = fields.get("restart_count", 0)
    made = ContainerRecord(f"t://{name}-{count}", name, state, definition=definition(known[name]), sandbox_id="s0")
    return replace(made, **fields)


def sandbox(attempt: int = 0, ready: bool = True, ip: str | None = "10.0.0.1") -> SandboxRecord:
    return SandboxRecord(f"s{attempt}", ready, attempt, ip)


def gate(initial: float = 10, cap: float = 300, **options: Any) -> RestartGate:
    """A node's gate with a curve in seconds."""
    return RestartGate(GateOptions(initial_ns=int(initial * SECOND), max_ns=int(cap * SECOND), **options))


class RigWorkload(Workload):
    """The options of a ``Rig``; a test may change them at any time."""

    def __init__(self, rig: "Rig") -> None:
        self._rig = rig

    def takes_ns(self, pod: Pod, effect: Effect) -> int:
        if isinstance(effect, RunHook):
            return _ns(self._rig.hook_takes.get(_hook_key(effect), 0))
        return _ns(self._rig.call_takes)

    def ends_ns(self, pod: Pod, effect: KillContainer) -> int:
        takes = self._rig.kill_takes
        return _ns(takes.get(effect.name, 0) if isinstance(takes, dict) else takes)

    def error(self, pod: Pod, effect: Effect) -> str:
        return self._rig.error_of(effect)

    def runs_ns(self, pod: Pod, name: str) -> int | None:
        after = self._rig.dies_after.get(name)
        return None if after is None else _ns(after)

    def exit_code(self, pod: Pod, name: str) -> int:
        code = self._rig.exit_code
        return code.get(name, 0) if isinstance(code, dict) else code

    def image_present(self, image: str) -> bool:
        return image in (self._rig.images or ())

    def pulled(self, effect: PullImage) -> Pull:
        return Pull(1_234_567_890, 2_000_000_000, 4096)


class Rig(VirtualPod):
    """One pod on a virtual node whose probe results are set by hand. ``actions`` and the lists beside it are its log.

    ``dies_after`` (by container name, seconds) makes each instance exit by itself with ``exit_code``, or with that of
    its name. ``kill_takes`` seconds is how long a killed container needs, at most its grace, or by its name, and
    ``call_takes`` every other effect. ``hook_takes`` seconds (by ``container/hook``) is how long a hook needs. ``fail``
    maps an effect's type, or a hook's ``container/hook``, to an error. ``images`` are those the node has; without it
    containers are made from none.
    """

    def __init__(
        self, pod: Pod, start_gate: RestartGate | None = None, *, prober: Prober | None = None, **options: Any
    ) -> None:
        self.images: set[str] | None = options.get("images")
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
        self._ended_ids: set[str] = set()
        self.results = GivenResults()
        self._prober = self.results if prober is None else prober
        context = NodeContext(
            Agenda(),
            self._prober,
            gate() if start_gate is None else start_gate,
            RigWorkload(self),
            probe_grace=options.get("probe_grace", True),
            images=self.images is not None,
        )
        super().__init__(pod, context, "t://")

    @property
    def now(self) -> int:
        return self._agenda.now

    @now.setter
    def now(self, now: int) -> None:
        self._agenda.now = now

    @property
    def snapshot(self) -> Snapshot:
        return self.runtime.snapshot

    @snapshot.setter
    def snapshot(self, snapshot: Snapshot) -> None:
        self.runtime.snapshot = snapshot

    def handle(self, given: Input) -> list[Action]:
        """Gives the machine one input and carries out its actions."""
        if isinstance(given, Observed | Performed):
            self._log_ends(given.snapshot)
        if isinstance(given, Performed):
            self._log_starts(given)
        actions = super().handle(given)
        self.actions += actions
        for action in actions:
            if isinstance(action, Perform):
                for effect in action.effects:
                    self._log_effect(effect)
            self.gone |= isinstance(action, Forget)
        return actions

    def begin(self) -> None:
        self.observe()
        self.settle()

    def settle(self) -> None:
        """Carries out everything that is due now."""
        play(self._agenda, self._prober, self.now)

    def step(self) -> None:
        """Advances to the next due event and carries it out."""
        moment = next_moment(self._agenda, self._prober)
        assert moment is not None, "no event is due"
        play(self._agenda, self._prober, moment)

    def run_until(self, seconds: float) -> None:
        play(self._agenda, self._prober, _ns(seconds))

    def at(self, seconds: float, what: Literal["exit", "give"], given: Any) -> None:
        """Plans the ``exit`` of a container id, or an input to ``give``, for a time."""
        if what == "give":
            self._agenda.at(_ns(seconds), lambda: self.handle(given))
        else:
            name = next(record.name for record in self.snapshot.containers if record.id == given)
            self._agenda.at(_ns(seconds), lambda: self._ended(name, given))

    def probe_fails(self, probe_type: ProbeType, container_id: str) -> None:
        self.results.values[probe_type, container_id] = "Failure"
        self.handle(SyncRequested())
        self.settle()

    def error_of(self, effect: Effect) -> str:
        """The runtime's error for an effect; empty if the effect succeeds."""
        return self.fail.get(_hook_key(effect) if isinstance(effect, RunHook) else type(effect), "")

    @property
    def events(self) -> list[tuple[str, str]]:
        return [(action.reason, action.message) for action in self.actions if isinstance(action, Record)]

    @property
    def published(self) -> list[Publish]:
        return [action for action in self.actions if isinstance(action, Publish)]

    # The log.

    def _log_effect(self, effect: Effect) -> None:
        at = self.now / SECOND
        match effect:
            case KillContainer():
                self.kills.append((at, effect))
            case RunHook():
                self.hooks.append((at, _hook_key(effect)))
            case PullImage():
                self.pulls.append((at, effect.image))

    def _log_starts(self, performed: Performed) -> None:
        perform = next(a for a in self.actions if isinstance(a, Perform) and a.ticket == performed.ticket)
        for effect, outcome in zip(perform.effects, performed.outcomes, strict=True):
            if isinstance(effect, StartContainer) and not outcome.error:
                made = next(record for record in performed.snapshot.containers if record.id == effect.container_id)
                self.starts.append((self.now / SECOND, made.name, made.restart_count))

    def _log_ends(self, snapshot: Snapshot) -> None:
        for record in reversed(snapshot.containers):
            if record.state is State.EXITED and record.id not in self._ended_ids:
                self._ended_ids.add(record.id)
                self.ends.append(((record.finished_ns or 0) / SECOND, record.name))


def _hook_key(effect: RunHook) -> str:
    return f"{effect.container.name}/{effect.hook}"


def _ns(seconds: float) -> int:
    return int(seconds * SECOND)
