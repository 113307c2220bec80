"""One measurement: an engine, a scenario, a target."""

import json
import os
import subprocess
from contextlib import ExitStack
from threading import Timer
from typing import Any

from benches.engines import Engine
from benches.machine import ROOT
from benches.measure.cpu import cpu
from benches.measure.scenario import Scenario, Suite
from benches.measure.target import Watched, target

SPARE_SECONDS = 60
"""The time to start, add workers, warm up and stop; the suite kills an engine that takes longer, because it hangs."""
REACHED = 0.97
"""A prober that makes a smaller share of its probes is saturated."""
CHANCE = 4
"""A deviation of this many standard deviations may be chance."""
BUSY = 0.97
"""Above this share of all cores a row cannot tell whether the prober or the target was late."""

Row = dict[str, Any]


class EngineError(Exception):
    """An engine that did not finish; the text is its last words."""


def command(engine: Engine, scenario: Scenario, suite: Suite, place: str | None, faulty: str | None) -> list[str]:
    """The command line that asks an engine for a load."""
    pace = {
        "--workers": suite.workers or scenario.workers,
        "--period": f"{scenario.period}s",
        "--warm": f"{warm_of(suite, scenario)}s",
        "--duration": f"{duration_of(suite, scenario)}s",
    }
    if place:
        pace["--target"] = place
    if scenario.faulty and faulty:
        pace["--faulty"] = f"{faulty}={scenario.faulty.percent}"
    if scenario.churn:
        pace["--churn"] = suite.workers or scenario.churn
    if scenario.restarts:
        pace["--restarts"] = suite.workers or scenario.restarts
    given = [text for name, value in pace.items() for text in (name, str(value))]
    return engine.asked(scenario.handler, [*given, *(["--burst"] if scenario.burst else [])])


def warm_of(suite: Suite, scenario: Scenario) -> int:
    """Seconds of warm-up: the scenario's own, unless the suite makes everything small."""
    return suite.warm if scenario.warm is None or suite.workers else scenario.warm


def duration_of(suite: Suite, scenario: Scenario) -> int:
    """Seconds of measurement, chosen as in ``warm_of``."""
    return suite.duration if scenario.duration is None or suite.workers else scenario.duration


def rounds_of(suite: Suite, scenario: Scenario) -> int:
    return suite.rounds if scenario.rounds is None else scenario.rounds


def measure(engine: Engine, scenario: Scenario, suite: Suite, watched: Watched | None) -> Row:
    """Raises ``EngineError``."""
    with ExitStack() as stack:
        wrong = None
        if scenario.faulty:
            wrong = stack.enter_context(target(scenario.faulty.behaviour)).place if _listens(scenario) else CLOSED
        asked = command(engine, scenario, suite, watched.place if watched else None, wrong)
        return _measure(engine, scenario, suite, watched, asked)


def _listens(scenario: Scenario) -> bool:
    return scenario.faulty is not None and scenario.faulty.behaviour != "refuse"


def _measure(engine: Engine, scenario: Scenario, suite: Suite, watched: Watched | None, asked: list[str]) -> Row:
    pid, longest = watched.pid if watched else None, duration_of(suite, scenario) + SPARE_SECONDS
    stamped = None
    with subprocess.Popen(asked, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        watchdog = Timer(longest, process.kill)
        watchdog.start()
        try:
            said = _until("measuring", process)
            before = cpu(pid)
            if watched:
                watched.forget()
            said += _until("measured", process)
            used = cpu(pid) - before
            if watched:
                stamped = watched.statistics()
            out, err = process.communicate()
        finally:
            watchdog.cancel()
            process.kill()
    if process.returncode:
        raise EngineError(f"{' '.join(asked)}\n{said}{err}exit code {process.returncode}")
    return row(engine.name, scenario, suite, json.loads(out), stamped) | {
        "target_cores": round(used.target / max(1e-9, used.all) * (os.cpu_count() or 1), 2),
        "busy": round(used.busy / max(1e-9, used.all), 3),
    }


def _until(word: str, process: "subprocess.Popen[str]") -> str:
    """Returns the engine's messages up to a line with ``word``, or up to its end."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if word in line:
            break
    return said


def row(name: str, scenario: Scenario, suite: Suite, seen: Row, stamped: Row | None) -> Row:
    """The kept figures of a measurement. Lateness comes from the target if it saw three probes of a worker, which show
    the worker's schedule; otherwise it is the prober's own."""
    workers = suite.workers or scenario.workers
    inside = seen.get("lateness_ms")
    late = inside
    if stamped and stamped["samples"]:
        late = {name: stamped["lateness_ms"][name] for name in QUANTILES}
    first_byte = stamped.get("first_byte_lateness_ms") if stamped and scenario.period < IDLE_SECONDS else None
    kept = {key: seen.get(key) for key in KEPT}
    if scenario.period >= IDLE_SECONDS:
        kept["cpu_us_per_probe"] = None  # waiting takes all of the CPU; the few probes do not matter
    return (
        {"scenario": scenario.name, "engine": name, "workers": workers}
        | kept
        | {
            "lateness_ms": None if scenario.period >= IDLE_SECONDS else late,
            "first_byte_lateness_ms": {name: first_byte[name] for name in QUANTILES} if first_byte else None,
            "lateness_inside_ms": inside,
            "burst_ms": stamped["burst_ms"] if stamped and scenario.burst else None,
            "cores": round((seen["cpu_us_per_probe"] or 0) * seen["probes_per_second"] / 1e6, 3),
            "expected_per_second": round(workers / scenario.period, 1),
        }
    )


def saturated(row: Row) -> bool:
    """True if a prober did not make its probes. A row with more workers would only show that again."""
    made, due = float(row["probes_per_second"]), float(row["expected_per_second"])
    # If the period is longer than the measured time, the number of due probes depends on chance.
    expected = due * row["probes"] / made if made else 0.0
    chance = CHANCE / expected**0.5 if 0 < expected < row["workers"] else 0.0
    return (made < (REACHED - chance) * due and due >= 1) or bool(row["false_failures"] > row["probes"] / 100)


def bottleneck(row: Row) -> str | None:
    """Returns in words what was at its limit."""
    if not saturated(row) and row["busy"] < BUSY:
        return None
    parts = f"prober {row['cores']:.2f} cores, target {row['target_cores']:.2f}"
    if row["busy"] >= BUSY:
        return f"all {os.cpu_count()} cores are busy ({parts})"
    return f"the prober, with {row['busy']:.0%} of the machine busy ({parts})"


QUANTILES = ("p50", "p99", "max")
KEPT = (
    "probes",
    "probes_per_second",
    "cpu_us_per_probe",
    "false_failures",
    "bytes_per_worker",
    "add_ms",
    "remove_ms",
    "wakeups_per_second",
)
CLOSED = "127.1.0.0/9:9"
"""The port of the discard service, which machines no longer run."""
IDLE_SECONDS = 3600
"""Workers with a period this long are idle on purpose."""
