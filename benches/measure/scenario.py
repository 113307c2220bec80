"""Reads ``scenarios.toml``: scenarios, which every able engine runs, and suites of scenarios."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from benches.machine import ROOT

FILE = ROOT / "benches" / "scenarios.toml"
HANDLERS = ("http", "https", "tcp", "grpc", "exec", "cri")
"""``cri`` is exec over a runtime's socket; ``exec`` is only the way from the engine to Python and back."""


class ScenarioError(ValueError):
    """A mistake in the file; the message says where and what."""


@dataclass(frozen=True)
class Faulty:
    """This many of a hundred workers probe a target with this behaviour, and must fail."""

    behaviour: str
    percent: int


@dataclass(frozen=True)
class Scenario:
    """One load. Times are in seconds; ``group`` is the name without the number of workers."""

    name: str
    group: str
    title: str
    handler: str
    workers: int
    engines: tuple[str, ...]
    period: int = 1
    probes_per_second: int | None = None
    """This many probes are due each second; the period follows from it."""
    duration: int | None = None
    """None means the suite's value."""
    warm: int | None = None
    rounds: int | None = None
    target: tuple[str, ...] = ()
    """Behaviours of the target (tests/support/target/target.c); by default it is healthy."""
    faulty: Faulty | None = None
    burst: bool = False
    churn: int = 0
    restarts: int = 0

    @property
    def expected_per_second(self) -> float:
        return self.workers / self.period


@dataclass(frozen=True)
class Suite:
    """Which scenarios to run, how often and for how long. ``workers`` replaces the workers of every scenario. In the
    file, ``engines`` may leave engines out of a scenario."""

    name: str
    rounds: int
    duration: int
    warm: int
    scenarios: tuple[Scenario, ...] = field(default=())
    workers: int | None = None
    together: bool = False
    """Runs all engines at once: quick, but the figures mean nothing."""


def read(path: Path = FILE) -> dict[str, Suite]:
    """Returns the suites by name. Raises ``ScenarioError`` for the first mistake."""
    document = tomllib.loads(path.read_text())
    scenarios: dict[str, Scenario] = {}
    for table in document["scenario"]:
        for scenario in _scenarios(table):
            if scenario.name in scenarios:
                raise ScenarioError(f"{path.name}: scenario {scenario.name}: there are two of this name")
            scenarios[scenario.name] = scenario
    return {name: _suite(name, table, scenarios, path) for name, table in document["suite"].items()}


def _scenarios(table: dict[str, Any]) -> Iterator[Scenario]:
    """Returns one scenario for each number of workers."""
    where = f"scenario {table.get('group', '?')}"
    known = {field.name for field in fields(Scenario)} - {"name"}
    if unknown := sorted(table.keys() - known):
        raise ScenarioError(f"{where}: {unknown[0]}: unknown field; want one of {', '.join(sorted(known))}")
    if table["handler"] not in HANDLERS:
        raise ScenarioError(f"{where}: handler: {table['handler']}: want one of {', '.join(HANDLERS)}")
    faulty = Faulty(**table["faulty"]) if "faulty" in table else None
    given = table | {"engines": tuple(table["engines"]), "target": tuple(table.get("target", ())), "faulty": faulty}
    for workers in table["workers"]:
        if workers < 1:
            raise ScenarioError(f"{where}: workers: {workers}: must be above 0")
        scenario = Scenario(**(given | {"name": f"{table['group']}-{workers}", "workers": workers}))
        if scenario.probes_per_second:
            if workers % scenario.probes_per_second:
                raise ScenarioError(f"{where}: workers: {workers}: must be a multiple of probes_per_second")
            scenario = replace(scenario, period=workers // scenario.probes_per_second)
        yield scenario


def _suite(name: str, table: dict[str, Any], scenarios: dict[str, Scenario], path: Path) -> Suite:
    wanted, engines = table.pop("scenarios", list(scenarios)), table.pop("engines", {})
    for one in [*wanted, *engines]:
        if one not in scenarios:
            raise ScenarioError(f"{path.name}: suite {name}: there is no scenario {one}")
    chosen = (replace(scenarios[one], engines=tuple(engines.get(one, scenarios[one].engines))) for one in wanted)
    return Suite(name=name, scenarios=tuple(chosen), **table)
