"""The parts of a scenario that a stand-in plays on a real machine: starts and answers of containers, and faults."""

from collections.abc import Callable
from typing import Final

from probelet.lab.scenario.behave import budget, entry_of
from probelet.lab.scenario.length import Length, Startup
from probelet.lab.scenario.pattern import matches, matches_container
from probelet.lab.scenario.read import ScenarioFile
from probelet.runtime.embedded.stand_in.plan import Behaviour, Spread, Trouble
from probelet.spec.model.container import Container
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.duration import of_file
from probelet.virtual.cluster.fault import Deadlock, Exit, GcPause, Lasting, StartupSlow

PLAYED: Final = (Deadlock, Exit, GcPause, StartupSlow)
"""The faults that are about the containers themselves."""


def behaviours(file: ScenarioFile, begins: float) -> Callable[[str, Container], Behaviour]:
    """The behaviour of a container, by its workload's name and itself. ``at`` of faults counts from ``begins``, a
    moment of the machine's monotonic clock."""
    scenario = file.scenario

    def of(workload: str, container: Container) -> Behaviour:
        entry = entry_of(scenario, workload, container.name)
        latency = entry.probe_latency or entry.latency
        return Behaviour(
            startup=Spread() if entry.startup is None else _startup(entry.startup, budget(container)),
            latency=Spread() if latency is None else _spread(latency),
            troubles=[
                _trouble(fault, begins)
                for fault in scenario.faults
                if isinstance(fault, PLAYED) and _strikes(fault.container, workload, container.name)
            ],
        )

    return of


def not_played(file: ScenarioFile) -> list[str]:
    """The parts of a scenario that no stand-in plays, in the words of the file."""
    scenario = file.scenario
    found = [name for name in ("dependencies", "traffic") if getattr(scenario, name)]
    for container in scenario.containers:
        found += [name for name in ("concurrency", "queue", "asks") if getattr(container, name)]
    return list(dict.fromkeys([*found, *(fault.kind for fault in scenario.faults if not isinstance(fault, PLAYED))]))


def _strikes(pattern: str, workload: str, container: str) -> bool:
    return matches(pattern, workload) or matches_container(pattern, workload, container)


def _trouble(fault: Deadlock | Exit | GcPause | StartupSlow, begins: float) -> Trouble:
    at = begins + of_file(fault.at) / SECOND
    lasts = of_file(fault.lasts) / SECOND if isinstance(fault, Lasting) and fault.lasts is not None else None
    until = None if lasts is None else at + lasts
    match fault:
        case Exit():
            return Trouble("exit", at, code=fault.code)
        case GcPause():
            return Trouble(
                "gc-pause", at, until, lasts=of_file(fault.pause) / SECOND, every=of_file(fault.every) / SECOND
            )
        case StartupSlow():
            return Trouble("startup-slow", at, until, lasts=of_file(fault.more) / SECOND)
        case Deadlock():
            return Trouble("deadlock", at, until)


def _startup(length: Startup, whole: int) -> Spread:
    if length.of_budget is not None:
        return _constant(whole * length.of_budget / SECOND)
    return _spread(length)


def _spread(length: Length) -> Spread:
    if length.p99 is not None and length.p50:
        return Spread(length.p50 / SECOND, length.p99 / SECOND, is_log_normal=True)
    if length.max is not None:
        return Spread((length.min or 0) / SECOND, length.max / SECOND)
    return _constant((length.always or length.p50 or 0) / SECOND)


def _constant(seconds: float) -> Spread:
    return Spread(seconds, seconds)
