"""Invariants of the machine, whatever happens to a pod and in whatever order."""

from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from probelet.policy.facts.snapshot import State
from probelet.policy.protocol.actions import Arm, Perform
from probelet.policy.protocol.effects import CreateContainer, KillContainer, RunHook, StartContainer
from probelet.policy.protocol.inputs import Terminate
from probelet.policy.rules.kind import is_sidecar
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import Rig, make_pod

NAMES = ("a", "b", "setup", "side")
GRACE_SECONDS = 30
SETTLED = 10_000.0


@dataclass(frozen=True)
class Happening:
    """An event of the newest instance of a container, after some seconds."""

    after: float
    what: str
    name: str
    code: int


HAPPENINGS = st.lists(
    st.builds(
        Happening,
        after=st.sampled_from([0.0, 0.5, 3.0, 12.0, 700.0]),
        what=st.sampled_from(["exit", "liveness", "startup"]),
        name=st.sampled_from(NAMES),
        code=st.sampled_from([0, 1, 42]),
    ),
    max_size=12,
)


class Watched(Rig):
    """A rig that checks every effect against the invariants."""

    def __init__(self, pod: Pod, **options: Any) -> None:
        self.ended_at: float | None = None
        self.hurried_at: float | None = None
        self.open: dict[int, Perform] = {}
        self.hooked: set[str] = set()
        super().__init__(pod, **options)

    def handle(self, given_input: Any) -> Any:
        if isinstance(given_input, Terminate):
            if self.ended_at is not None:
                self.hurried_at = self.now / 1e9
            self.ended_at = self.ended_at or self.now / 1e9
        self.open.pop(getattr(given_input, "ticket", 0), None)
        actions = super().handle(given_input)
        for action in actions:
            if isinstance(action, Perform):
                self.open[action.ticket] = action
                self.examine(action)
        performing = [effect for perform in self.open.values() for effect in perform.effects]
        several = len(self.open) > 1
        assert not several or all(isinstance(e, KillContainer | RunHook) or self.hooked for e in performing)
        killed = [effect.container_id for effect in performing if isinstance(effect, KillContainer)]
        assert len(killed) == len(set(killed)), "one kill of a container at a time"
        if self.open and not self.hooked and not any(c.restart_policy for c in self.pod.spec.init_containers):
            assert not any(isinstance(a, Arm) and a.deadline_ns for a in actions), "busy and waiting"
        return actions

    def examine(self, perform: Perform) -> None:
        running = {r.name for r in self.snapshot.containers if r.state is State.RUNNING}
        for effect in perform.effects:
            match effect:
                case CreateContainer():
                    assert effect.container.name not in running, "two instances of one container"
                    assert self.ended_at is None, "a start after the end was asked for"
                case StartContainer(name):
                    assert name not in running
                    assert self.ended_at is None
                case RunHook():
                    key = f"{effect.container_id}/{effect.hook}"
                    assert key not in self.hooked, "a hook that runs twice"
                    self.hooked.add(key)
                    assert effect.hook == "preStop" or self.ended_at is None
                case KillContainer():
                    assert effect.grace_seconds >= 2 or self.hurried_at is not None
                    self.examine_turn(effect, running)

    def examine_turn(self, kill: KillContainer, running: set[str]) -> None:
        """An ending pod stops its sidecars last, unless the grace is over."""
        regular = {container.name for container in self.pod.spec.containers}
        sidecars = {container.name for container in self.pod.spec.init_containers if is_sidecar(container)}
        if self.ended_at is None or self.hurried_at is not None or kill.name not in sidecars:
            return
        assert not (running & regular) or self.now / 1e9 >= self.ended_at + GRACE_SECONDS


def make(policy: str, hooks: bool, init: bool, rule: str) -> Pod:
    hook = {"postStart": {"exec": {"command": ["a"]}}, "preStop": {"exec": {"command": ["b"]}}}
    lifecycle = {"lifecycle": hook} if hooks else {}
    rules = [{"action": rule, "exitCodes": {"operator": "In", "values": [42]}}]
    restart = {"restartPolicy": "Never", "restartPolicyRules": rules} if rule else {}
    setup = [{"name": "setup"}, {"name": "side", "restartPolicy": "Always", **lifecycle}] if init else []
    return make_pod(
        {"name": "a", **lifecycle, **restart},
        {"name": "b"},
        init=setup,
        restartPolicy=policy,
        terminationGracePeriodSeconds=GRACE_SECONDS,
    )


def befall(rig: Rig, happenings: list[Happening], end_at: float) -> None:
    now = 0.0
    for happening in happenings:
        now += happening.after
        if now >= end_at:
            break
        rig.run_until(now)
        newest = rig.snapshot.newest(happening.name)
        if newest is None or newest.state is not State.RUNNING:
            continue
        if happening.what == "exit":
            rig.exit_code = happening.code
            rig.at(now, "exit", newest.id)
            rig.settle()
        else:
            rig.probe_fails(happening.what, newest.id)
    rig.run_until(end_at)


@given(
    happenings=HAPPENINGS,
    policy=st.sampled_from(["Always", "OnFailure", "Never"]),
    hooks=st.booleans(),
    init=st.booleans(),
    rule=st.sampled_from(["", "Restart", "RestartAllContainers"]),
    kill_takes=st.sampled_from([0.0, 1.0, 60.0]),
    call_takes=st.sampled_from([0.0, 0.2]),
    hook_takes=st.sampled_from([0.0, 4.0, 100.0]),
    end_at=st.sampled_from([0.25, 1.0, 15.0, 2_000.0]),
    hurry=st.none() | st.tuples(st.sampled_from([0.0, 2.0, 33.0]), st.sampled_from([0, 3, 60, None])),
)
def test_no_order_of_events_starts_a_container_twice_or_outlives_the_end(
    happenings: list[Happening],
    policy: str,
    hooks: bool,
    init: bool,
    rule: str,
    kill_takes: float,
    call_takes: float,
    hook_takes: float,
    end_at: float,
    hurry: tuple[float, int | None] | None,
) -> None:
    takes = {f"{name}/{hook}": hook_takes for name in NAMES for hook in ("postStart", "preStop")}
    pod = make(policy, hooks, init, rule)
    rig = Watched(pod, kill_takes=kill_takes, call_takes=call_takes, hook_takes=takes)
    rig.begin()
    befall(rig, happenings, end_at)
    rig.handle(Terminate())
    rig.settle()
    if hurry is not None:
        after, grace = hurry
        rig.run_until(end_at + after)
        rig.handle(Terminate(at_once=True) if grace is None else Terminate(grace_seconds=grace))
        rig.settle()
    rig.run_until(SETTLED)
    assert rig.gone
    assert (rig.snapshot.sandboxes, rig.snapshot.containers) == ((), ())
