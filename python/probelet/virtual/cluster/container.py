"""The containers of a cluster in the model: how each behaves under the faults of the moment, when it starts and
ends."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from probelet._rust import ClusterModel
from probelet.errors import ClusterError
from probelet.policy.rules.kind import containers
from probelet.spec.text.duration import HOUR
from probelet.spec.text.quantity import parse_quantity
from probelet.virtual.agenda import Agenda
from probelet.virtual.cluster.behaviour import ASKERS, Behaviour, Spread
from probelet.virtual.cluster.duration import nanoseconds
from probelet.virtual.cluster.fault import (
    Fault,
    GcPause,
    MemoryLeak,
    NodeSlow,
    Partition,
    ProberStarved,
    SlowLeak,
    StartupDrift,
    StartupSlow,
)
from probelet.virtual.cluster.node.pod import KILLED_FOR_MEMORY, ClusterPod

DAY: Final = 24 * HOUR


@dataclass
class _Container:
    pod: ClusterPod
    name: str
    number: int
    is_regular: bool
    behaviour: Behaviour
    described: bytes
    life: int = 0
    """Counts its starts and ends."""


class Active(msgspec.Struct, frozen=True):
    """A fault that lasts, and when it began."""

    fault: Fault
    since_ns: int


class ClusterContainers:
    """All containers of a cluster. ``on_end`` is called when one has ended."""

    def __init__(self, agenda: Agenda, model: ClusterModel, on_end: Callable[[ClusterPod, str], None]) -> None:
        self.active: list[Active] = []
        """The faults of the moment, in the order in which they began."""
        self._agenda = agenda
        self._model = model
        self._on_end = on_end
        self._containers: dict[tuple[str, str], _Container] = {}

    def add(self, pod: ClusterPod, behaviours: dict[str, Behaviour]) -> None:
        """Add the containers of a pod before it is bound to its node."""
        for kind, each in containers(pod.pod):
            behaviour = behaviours.get(each.name, Behaviour())
            made = _Container(pod, each.name, -1, kind == "regular", behaviour, b"")
            made.described = self._description(made)
            made.number = self._model.add_container(pod.uid, pod.name, each.name, made.described)
            pod.numbers[each.name] = made.number
            self._containers[pod.uid, each.name] = made

    def remove(self, pod: ClusterPod) -> None:
        """Nothing of the pod is left; its numbers stay its own."""
        for name in pod.numbers:
            self._containers.pop((pod.uid, name), None)

    def behave(self, pod: ClusterPod, name: str, behaviour: Behaviour) -> None:
        """A container behaves otherwise from now on; a start-up that has begun stays as it is."""
        self._containers[pod.uid, name].behaviour = behaviour

    def refresh(self) -> None:
        """Tell the model of every container that behaves otherwise than before."""
        for each in self._containers.values():
            described = self._description(each)
            if described != each.described:
                each.described = described
                self._model.describe(self._agenda.now, each.number, described)

    def leak(self, active: Active) -> None:
        """A memory leak has begun: containers that run are killed when it has filled their memory."""
        for each in self._containers.values():
            if each.life % 2 and self._hits(active.fault, each):
                self._fill(each, active)

    # What the nodes ask (``node.workload.Containers``).

    def stop_ns(self, uid: str, name: str) -> int:
        """How long a container runs on after SIGTERM."""
        return nanoseconds("stop", self._containers[uid, name].behaviour.stop)

    def start(self, uid: str, name: str) -> int | None:
        """A container starts now; returns after how long it ends by itself."""
        each, now = self._containers[uid, name], self._agenda.now
        each.life += 1
        _, ends = self._model.start(now, each.number, self._more_ns(each))
        for active in self.active:
            if isinstance(active.fault, MemoryLeak) and self._hits(active.fault, each):
                self._fill(each, active)
        leak = each.behaviour.leak
        if leak is not None and leak.memory_limit:
            start, limit = bytes_of("memory_start", leak.memory_start), bytes_of("memory_limit", leak.memory_limit)
            self._kill_after(each, _hours_ns(limit - start, bytes_of("memory_per_hour", leak.memory_per_hour)), None)
        return None if ends is None else ends - now

    def end(self, uid: str, name: str) -> None:
        """A container has ended."""
        each = self._containers.get((uid, name))
        if each is None or each.life % 2 == 0:
            return
        each.life += 1
        self._model.end(self._agenda.now, each.number)
        self._on_end(each.pod, name)

    def exit_code(self, uid: str, name: str) -> int:
        """Its exit code when it ends by itself."""
        return self._containers[uid, name].behaviour.exit_code

    # The faults of the moment.

    def _fill(self, each: _Container, active: Active) -> None:
        fault = active.fault
        assert isinstance(fault, MemoryLeak)
        takes = _hours_ns(bytes_of("limit", fault.limit), bytes_of("per_hour", fault.per_hour))
        self._kill_after(each, takes, active)

    def _kill_after(self, each: _Container, takes_ns: int | None, active: Active | None) -> None:
        """Kill a container for its memory, if it runs until then and the leak lasts."""
        if takes_ns is None:
            return
        life = each.life

        def kill() -> None:
            if each.life == life and (active is None or active in self.active):
                each.pod.exit(each.pod.running_id(each.name), KILLED_FOR_MEMORY, "OOMKilled")

        self._agenda.at(self._agenda.now + takes_ns, kill)

    def _more_ns(self, each: _Container) -> int:
        """Returns the time that the faults of the moment add to a start-up."""
        more = 0
        for active in self.active:
            match active.fault:
                case StartupSlow() if self._hits(active.fault, each):
                    more += nanoseconds("more", active.fault.more)
                case StartupDrift() if self._hits(active.fault, each):
                    per_day = nanoseconds("per_day", active.fault.per_day)
                    more += per_day * (self._agenda.now - active.since_ns) // DAY
        return more

    def _hits(self, fault: Fault, each: _Container) -> bool:
        """Whether a fault of containers hits this one."""
        return is_target(fault.target, each.pod.workload, each.name, is_regular=each.is_regular)

    def _description(self, each: _Container) -> bytes:
        """Returns the model's description of a container."""
        behaviour = each.behaviour
        found: dict[str, Any] = {
            "startup": spread_document(behaviour.startup),
            "latency": spread_document(behaviour.latency),
            "probe_latency": None if behaviour.probe_latency is None else spread_document(behaviour.probe_latency),
            "concurrency": behaviour.concurrency,
            "queue": behaviour.queue,
            "asks": {asker: list(behaviour.asks.get(asker, ())) for asker in ASKERS},
            "apart": behaviour.probes == "apart",
            "exits_after": None if behaviour.exits_after is None else spread_document(behaviour.exits_after),
            "pause": None,
            "leak": None,
            "factor": 1.0,
            "late_ns": 0,
            "cut_off": False,
            "cut": [],
        }
        if behaviour.pause is not None:
            found["pause"] = _pause_document(behaviour.pause.lasts, behaviour.pause.every)
        if behaviour.leak is not None and (per_hour := nanoseconds("leak", behaviour.leak.latency_per_hour)):
            found["leak"] = {"per_hour_ns": per_hour, "since_ns": 0}
        for active in self.active:
            self._apply(active, each, found)
        return msgspec.json.encode(found)

    def _apply(self, active: Active, each: _Container, found: dict[str, Any]) -> None:
        fault, node = active.fault, each.pod.node
        match fault:
            case NodeSlow() if fault.node in (node, "*"):
                found["factor"] *= fault.factor
            case ProberStarved() if fault.node in (node, "*"):
                found["late_ns"] = max(found["late_ns"], nanoseconds("late", fault.late))
            case Partition() if fault.cut in (node, each.pod.workload):
                if fault.dependency is None:
                    found["cut_off"] = True
                else:
                    found["cut"].append(fault.dependency)
            case SlowLeak() if self._hits(fault, each):
                per_hour = nanoseconds("per_hour", fault.per_hour)
                found["leak"] = {"per_hour_ns": per_hour, "since_ns": active.since_ns}
            case GcPause() if self._hits(fault, each):
                found["pause"] = _pause_document(fault.pause, fault.every)


def is_target(target: str, workload: str, container: str, *, is_regular: bool) -> bool:
    """Whether a target, a workload or one of its containers, has this container in it."""
    return target == f"{workload}/{container}" or (is_regular and target == workload)


def spread_document(spread: Spread) -> dict[str, Any]:
    """A spread as the model reads it."""
    given = {"p50": spread} if isinstance(spread, str) else dict(spread)
    values = {key: nanoseconds(key, text) for key, text in given.items()}
    found = {"per_day_ns": values.get("per_day", 0)}
    if "p99" in values:
        return {"shape": "log_normal", "low_ns": values["p50"], "high_ns": values["p99"], **found}
    if "max" in values:
        return {"shape": "uniform", "low_ns": values["min"], "high_ns": values["max"], **found}
    return {"shape": "constant", "low_ns": values["p50"], **found}


def bytes_of(name: str, quantity: str) -> int:
    """A quantity of memory in bytes.

    Raises:
        ClusterError: it is none, or it is negative.
    """
    try:
        found = int(parse_quantity(quantity))
    except ValueError as error:
        raise ClusterError(f"{name}: {quantity!r}: {error}") from error
    if found < 0:
        raise ClusterError(f"{name}: {quantity!r}: must not be negative")
    return found


def _hours_ns(amount: int, per_hour: int) -> int | None:
    """How long it takes to gather an amount; None if it never does."""
    return max(0, amount) * HOUR // per_hour if per_hour else None


def _pause_document(lasts: str | int, every: str | int) -> dict[str, int]:
    return {"lasts_ns": nanoseconds("lasts", lasts), "every_ns": nanoseconds("every", every)}


def mentioned(behaviours: Iterable[Behaviour]) -> set[str]:
    """The dependencies that behaviours ask."""
    return {name for behaviour in behaviours for names in behaviour.asks.values() for name in names}
