"""Makes the containers of a cluster behave as a scenario says, and says in words what it assumed."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from probelet.lab.explain import bounds
from probelet.lab.scenario.fault import OtherVersion
from probelet.lab.scenario.length import Length, Startup
from probelet.lab.scenario.model import Asks, Container, Scenario
from probelet.lab.scenario.pattern import Template, Templates, matches_container
from probelet.spec.model.container import Container as PodContainer
from probelet.spec.model.probe import PROBE_TYPES, Probe, ProbeType
from probelet.spec.text.duration import MILLISECOND, SECOND, format_duration
from probelet.virtual.cluster import Behaviour, VirtualCluster

HALF_OF_BUDGET: Final = Startup(of_budget=0.5)
LATENCY: Final = Length(always=20 * MILLISECOND)
QUEUE: Final = 1_000
BUDGET_WITHOUT_PROBE: Final = 30 * SECOND
"""The start-up budget of a container that no probe kills, for `ofBudget`."""


class Assumed(NamedTuple):
    """The assumptions of a scenario about the containers of some manifests."""

    asks: list[str]
    """Which probes ask dependencies: one phrase each."""
    startup_seconds: float
    """How long the slowest container takes to start up at first, as a rule."""


def behave(scenario: Scenario, cluster: VirtualCluster, templates: Templates, budgets: Templates) -> Assumed:
    """Provides the dependencies and sets the behaviour of every container.

    ``budgets`` has the templates whose start-up budgets count for `ofBudget`, because other probes must not make a
    process start sooner or later. A container that is not there has its own.
    """
    _provide(scenario, cluster)
    assumed: list[str] = []
    longest = 0
    for workload, template in templates.items():
        for container in template.containers:
            entry = entry_of(scenario, workload, container.name)
            asks = _asks(entry.asks or Asks(), container)
            wait = budget(_known(budgets, workload, container))
            cluster.behave(f"{workload}/{container.name}", _behaviour(entry, asks, wait))
            length = entry.startup or HALF_OF_BUDGET
            longest = max(longest, round(wait * length.of_budget) if length.of_budget else length.longest or 0)
            for probe_type in PROBE_TYPES:
                if asked := asks.get(probe_type):
                    assumed.append(f"{probe_type} of {workload}/{container.name} asks {', '.join(asked)}")
    return Assumed(assumed, longest / SECOND)


def asks_of(scenario: Scenario, workload: str, container: PodContainer) -> Asks:
    """Returns the dependencies that requests and each probe of a container ask, with the answers that the scenario
    leaves to the handlers."""
    found = _asks(entry_of(scenario, workload, container.name).asks or Asks(), container)
    return Asks(
        requests=found.get("requests", []),
        readiness=found.get("readiness", []),
        liveness=found.get("liveness", []),
        startup=found.get("startup", []),
    )


def unmatched(scenario: Scenario, templates: Templates) -> Iterator[int]:
    """The entries of ``containers`` that match no container, by their index."""
    names = [(workload, each.name) for workload, template in templates.items() for each in template.containers]
    for index, entry in enumerate(scenario.containers):
        if not any(matches_container(entry.match, *name) for name in names):
            yield index


def new_version(
    scenario: Scenario, fault: OtherVersion, workload: str, template: Template, budgets: Templates
) -> Behaviour:
    """How the containers of a workload behave after a rollout: as its first container with a probe, but for what the
    fault says."""
    container = next((each for each in template.containers if each.probes), template.containers[-1])
    entry = entry_of(scenario, workload, container.name)
    entry = msgspec.structs.replace(
        entry,
        startup=fault.startup or entry.startup,
        latency=fault.latency or entry.latency,
        probe_latency=fault.probe_latency or entry.probe_latency,
    )
    wait = budget(_known(budgets, workload, container))
    found = _behaviour(entry, _asks(entry.asks or Asks(), container), wait)
    if fault.exits_after is None:
        return found
    return msgspec.structs.replace(found, exits_after=format_duration(fault.exits_after))


def _provide(scenario: Scenario, cluster: VirtualCluster) -> None:
    """Dependencies that ask nothing come first, because a dependency may only ask what is there."""
    left = dict(scenario.dependencies)
    while left:
        for name in [name for name, each in left.items() if not left.keys() & set(each.asks)]:
            dependency = left.pop(name)
            cluster.dependency(name, spread(dependency.latency), asks=tuple(dependency.asks))


def entry_of(scenario: Scenario, workload: str, container: str) -> Container:
    """Merges all entries that match; a later one replaces what an earlier one says."""
    found: dict[str, object] = {}
    for entry in scenario.containers:
        if matches_container(entry.match, workload, container):
            values = {name: getattr(entry, name) for name in entry.__struct_fields__}
            found |= {name: value for name, value in values.items() if value is not None}
    return Container(**found)  # type: ignore[arg-type]


def _known(budgets: Templates, workload: str, container: PodContainer) -> PodContainer:
    found = budgets[workload].containers if workload in budgets else []
    return next((each for each in found if each.name == container.name), container)


def _behaviour(entry: Container, asks: dict[str, list[str]], wait: int) -> Behaviour:
    return Behaviour(
        startup=startup(entry.startup or HALF_OF_BUDGET, wait),
        latency=spread(entry.latency or LATENCY),
        probe_latency=None if entry.probe_latency is None else spread(entry.probe_latency),
        concurrency=entry.concurrency,
        queue=QUEUE if entry.queue is None else entry.queue,
        probes="apart" if entry.probes == "apart" else "shared",
        asks=asks,  # type: ignore[arg-type]
    )


def _asks(asks: Asks, container: PodContainer) -> dict[str, list[str]]:
    """Returns the dependencies that requests and each probe of a container ask. A probe for which the scenario says
    nothing asks what a probe with the same handler asks: it is the same code."""
    found: dict[str, list[str]] = {"requests": asks.requests} if asks.requests else {}
    said: dict[ProbeType, list[str] | None] = {
        "readiness": asks.readiness,
        "liveness": asks.liveness,
        "startup": asks.startup,
    }
    for probe_type, probe in container.probes.items():
        path = None if probe.http_get is None else probe.http_get.path
        asked = said[probe_type] if path is None else asks.paths.get(path, said[probe_type])
        if asked is None:
            asked = next(
                (said[other] for other in container.probes if said[other] and _same(container, probe, other)), []
            )
        if asked and probe.tcp_socket is None:
            found[probe_type] = asked
    return found


def _same(container: PodContainer, probe: Probe, other_type: ProbeType) -> bool:
    other = container.probe(other_type)
    return other is not None and (probe.exec, probe.http_get, probe.grpc) == (other.exec, other.http_get, other.grpc)


def budget(container: PodContainer) -> int:
    """How long the probes of a container wait for its start-up for sure, in nanoseconds."""
    spans = (each.startup_budget for each in bounds(container).values())
    found = next((span for span in spans if span is not None), None)
    return BUDGET_WITHOUT_PROBE if found is None else found.earliest * SECOND


def startup(length: Startup, whole: int) -> str | dict[str, str]:
    """The start-up time of a container, whose budget is ``whole`` nanoseconds, as the cluster takes it."""
    if length.of_budget is not None:
        length = Startup(
            always=round(whole * length.of_budget), per_day=length.per_day, per_day_of_budget=length.per_day_of_budget
        )
    found = spread(length)
    drift = length.per_day + round(whole * length.per_day_of_budget)
    if not drift:
        return found
    return {**({"p50": found} if isinstance(found, str) else found), "per_day": format_duration(drift)}


def spread(length: Length) -> str | dict[str, str]:
    """A length as the cluster takes it."""
    if length.always is not None:
        return format_duration(length.always)
    pairs = {"p50": length.p50, "p99": length.p99, "min": length.min, "max": length.max}
    return {name: format_duration(value) for name, value in pairs.items() if value is not None}
