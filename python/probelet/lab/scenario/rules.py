"""The rules of a scenario that no type holds: names that exist, no cycles, behaviours that are possible."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from probelet.lab.scenario.fault import OtherLatency, OtherVersion
from probelet.lab.scenario.length import Length, Startup
from probelet.lab.scenario.model import Container, Dependency, Scenario, Traffic
from probelet.lab.scenario.ranges import range_errors
from probelet.spec.text.duration import HOUR, format_duration
from probelet.spec.text.problem import FieldError
from probelet.spec.text.quantity import parse_quantity
from probelet.virtual.cluster.duration import of_file
from probelet.virtual.cluster.fault import DependencyDown, Fault, GcPause, MemoryLeak, Partition

DURATION_MAX = 366 * 24 * HOUR
"""The longest simulation; a longer one is a slip of the unit."""


def validate(scenario: Scenario) -> list[FieldError]:
    """Every mistake of a decoded scenario."""
    return [*range_errors(scenario), *_mistakes(scenario)]


def _mistakes(scenario: Scenario) -> Iterator[FieldError]:
    if scenario.duration > DURATION_MAX:
        value = format_duration(scenario.duration)
        yield FieldError("duration", "Invalid value", value, f"must not exceed {format_duration(DURATION_MAX)}")
    known = scenario.dependencies
    for name, dependency in known.items():
        yield from _length(dependency.latency, f"dependencies[{name}].latency", required=True)
        yield from _names(dependency.asks, known, f"dependencies[{name}].asks")
    yield from _cycles(known)
    for index, container in enumerate(scenario.containers):
        yield from _container(container, known, f"containers[{index}]")
        if container.queue and all(each.concurrency is None for each in scenario.containers):
            yield FieldError(f"containers[{index}].queue", "Forbidden", detail="nothing waits without concurrency")
    for index, traffic in enumerate(scenario.traffic):
        yield from _traffic(traffic, f"traffic[{index}]")
    for index, fault in enumerate(scenario.faults):
        path = f"faults[{index}]"
        if not isinstance(fault, Fault):
            yield FieldError(path, "Required value", detail="a fault has a type")
            continue
        if (at := of_file(fault.at)) >= scenario.duration:
            value, end = format_duration(at), format_duration(scenario.duration)
            yield FieldError(f"{path}.at", "Invalid value", value, f"must be before the end of the scenario, {end}")
        yield from _fault(fault, known, path)


def _container(container: Container, known: Mapping[str, Dependency], path: str) -> Iterator[FieldError]:
    for name in ("startup", "latency", "probe_latency"):
        length = getattr(container, name)
        if length is not None:
            field = "probeLatency" if name == "probe_latency" else name
            yield from _length(length, f"{path}.{field}", required=name != "startup")
    if container.asks is not None:
        asks = container.asks
        for name in ("requests", "readiness", "liveness", "startup"):
            yield from _names(getattr(asks, name) or (), known, f"{path}.asks.{name}")
        for name, names in asks.paths.items():
            yield from _names(names, known, f"{path}.asks.paths[{name}]")


def _traffic(traffic: Traffic, path: str) -> Iterator[FieldError]:
    if (traffic.rate is None) == (traffic.rate_per_replica is None):
        yield FieldError(f"{path}.rate", "Required value", detail="either rate or ratePerReplica")
    if traffic.slo > traffic.timeout:
        value, most = format_duration(traffic.slo), format_duration(traffic.timeout)
        yield FieldError(f"{path}.slo", "Invalid value", value, f"must not exceed the client's timeout, {most}")


_REQUIRED: Final = {
    "late": "how late the prober reads each answer",
    "pause": "how long each pause takes",
    "more": "how much longer a start-up takes",
    "per_day": "how much longer a start-up takes with each day",
    "per_hour": "how much is added with each hour",
    "limit": "at how much memory the container is killed",
    "cut": "the workload or node that is cut off",
}
"""The fields of faults without a default, and what they say."""


def _fault(fault: Fault, known: Mapping[str, Dependency], path: str) -> Iterator[FieldError]:
    for field in msgspec.structs.fields(type(fault)):
        if field.name in _REQUIRED and not getattr(fault, field.name):
            yield FieldError(f"{path}.{field.encode_name}", "Required value", detail=_REQUIRED[field.name])
    match fault:
        case OtherLatency() | DependencyDown():
            yield from _names([fault.dependency], known, f"{path}.dependency", in_list=False)
            if isinstance(fault, OtherLatency):
                yield from _length(fault.latency, f"{path}.latency", required=True)
        case Partition(dependency=str(dependency)):
            yield from _names([dependency], known, f"{path}.dependency", in_list=False)
        case OtherVersion():
            for name, length in (("startup", fault.startup), ("latency", fault.latency)):
                if length is not None:
                    yield from _length(length, f"{path}.{name}", required=name == "latency")
        case GcPause(every=int(every), pause=int(pause)) if pause >= every:
            detail = f"must be below every, {format_duration(every)}"
            yield FieldError(f"{path}.pause", "Invalid value", format_duration(pause), detail)
        case MemoryLeak():
            for name, quantity in (("perHour", fault.per_hour), ("limit", fault.limit)):
                if quantity:
                    yield from _quantity(quantity, f"{path}.{name}")


def _quantity(text: str, path: str) -> Iterator[FieldError]:
    try:
        above_zero = parse_quantity(text) > 0
    except ValueError as error:
        yield FieldError(path, "Invalid value", text, str(error))
    else:
        if not above_zero:
            yield FieldError(path, "Invalid value", text, "must be above 0")


def _length(length: Length, path: str, *, required: bool) -> Iterator[FieldError]:
    """A length is written in exactly one way."""
    ways = [("always", length.always), ("p50", length.p50), ("p99", length.p99), ("min", length.min)]
    ways += [("max", length.max)]
    budget = length.of_budget if isinstance(length, Startup) else None
    written = frozenset(name for name, value in ways if value is not None) | ({"ofBudget"} if budget else frozenset())
    allowed = [{"always"}, {"p50", "p99"}, {"min", "max"}]
    detail = 'a duration such as "40ms", {p50, p99} or {min, max}'
    if isinstance(length, Startup):
        allowed.append({"ofBudget"})
        detail += " or {ofBudget}"
    if not written and not required:
        return
    if written not in allowed:
        yield FieldError(path, "Required value", detail=detail)
    for low, high in (("p50", "p99"), ("min", "max")):
        least, most = getattr(length, low), getattr(length, high)
        if least is not None and most is not None and most < least:
            detail = f"must not be below {low}, {format_duration(least)}"
            yield FieldError(f"{path}.{high}", "Invalid value", format_duration(most), detail)


def _names(
    names: Iterable[str], known: Mapping[str, Dependency], path: str, *, in_list: bool = True
) -> Iterator[FieldError]:
    for index, name in enumerate(names):
        field = f"{path}[{index}]" if in_list else path
        if not name:
            yield FieldError(field, "Required value", detail="the name of a dependency")
        elif name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known) or 'none'}"
            yield FieldError(field, "Not found", name, f"no dependency of this name under dependencies; {hint}")


def _cycles(known: Mapping[str, Dependency]) -> Iterator[FieldError]:
    """One mistake for each dependency that asks itself in the end, where the circle closes."""
    done: set[str] = set()
    for first in known:
        way: list[str] = []
        # None means that everything which the last name of the way asks has been followed.
        stack: list[str | None] = [first]
        while stack:
            name = stack.pop()
            if name is None:
                done.add(way.pop())
            elif name in way:
                circle = [*way[way.index(name) :], name]
                path = f"dependencies[{way[-1]}].asks"
                yield FieldError(path, "Invalid value", name, f"asks itself in the end: {' -> '.join(circle)}")
            elif name in known and name not in done:
                way.append(name)
                stack += [None, *reversed(known[name].asks)]
