"""Runs a suite: ``python -m benches bench|full|smoke``. ``bench`` and ``full`` keep results and render the page."""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from benches.engines import ENGINES
from benches.machine import ROOT, machine
from benches.measure.row import EngineError, Row, bottleneck, duration_of, measure, rounds_of, saturated, warm_of
from benches.measure.scenario import Scenario, Suite, read
from benches.measure.target import Watched, target_of
from benches.report import micro, page
from benches.report.results import document, save

KEPT = ("bench", "full")
START_SECONDS = 1.2
"""From an engine's start to its first pod, and from its last pod to its end."""
WORKER_SECONDS = 1e-4
"""The time to write a pod, to add it and to remove it."""


class Campaign:
    """A suite in progress."""

    def __init__(self, suite: Suite, engines: list[str]) -> None:
        self.suite = suite
        self.engines = engines
        self.rows: list[Row] = []
        self.failed: list[str] = []
        """Engines that did not finish; the other engines go on."""
        self._beaten: dict[tuple[str, str], str] = {}
        """The load at which an engine was saturated, by group and engine."""

    def run(self) -> list[Row]:
        began, whole = time.monotonic(), len(self.suite.scenarios)
        print(f"{whole} scenarios, {length(seconds(self.suite, self.engines))} if nothing is saturated", flush=True)
        for place, scenario in enumerate(self.suite.scenarios, start=1):
            workers = self.suite.workers or scenario.workers
            gone = length(time.monotonic() - began)
            print(f"[{place}/{whole}, after {gone}] {scenario.title}: {workers:,} workers", flush=True)
            with target_of(scenario.handler, scenario.period, scenario.target) as watched:
                for number in range(rounds_of(self.suite, scenario)):
                    self._round(scenario, number, watched)
            if not self.suite.together:
                self._note_beaten(scenario)
        return self.rows

    def _round(self, scenario: Scenario, number: int, watched: Watched | None) -> None:
        names = [name for name in self.engines if name in scenario.engines]
        with ThreadPoolExecutor(len(names) if self.suite.together else 1) as pool:
            # Any other error is raised here.
            list(pool.map(lambda name: self._one(name, scenario, number, watched), names))

    def _one(self, name: str, scenario: Scenario, number: int, watched: Watched | None) -> None:
        beaten = self._beaten.get((scenario.group, name))
        if beaten is not None:
            if number == 0:
                print(f"  {name:>15} saturated at {beaten} workers, not run", flush=True)
                self.rows.append({"scenario": scenario.name, "engine": name, "skipped": beaten})
            return
        try:
            row = measure(ENGINES[name], scenario, self.suite, watched)
        except EngineError as error:
            self.failed.append(f"{scenario.name}: {error}")
            print(f"  {name:>15} failed: {error}", flush=True)
            return
        row["round"] = number
        row["limit"] = bottleneck(row)
        self.rows.append(row)
        print(f"  {name:>15} {sentence(row)}", flush=True)

    def _note_beaten(self, scenario: Scenario) -> None:
        for row in self.rows:
            if row["scenario"] == scenario.name and "skipped" not in row and saturated(row):
                self._beaten.setdefault((scenario.group, row["engine"]), f"{scenario.workers:,}")


def seconds(suite: Suite, engines: list[str]) -> float:
    """Returns how long a suite takes."""
    whole = 0.0
    for scenario in suite.scenarios:
        asked = sum(name in scenario.engines for name in engines)
        turns = (1 if suite.together else asked) * rounds_of(suite, scenario)
        whole += turns * (warm_of(suite, scenario) + duration_of(suite, scenario) + START_SECONDS)
        whole += turns * (suite.workers or scenario.workers) * WORKER_SECONDS
    return whole


def length(seconds: float) -> str:
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def sentence(row: Row) -> str:
    cpu, late = row["cpu_us_per_probe"], row["lateness_ms"]
    parts = [f"{row['probes_per_second']:9,.0f}/s", "            -" if cpu is None else f"{cpu:7.1f} us/probe"]
    parts.append(f"{row['false_failures']:6,} false failures")
    if late:
        parts.append(f"late p50 {late['p50']:.2f} p99 {late['p99']:.2f} max {late['max']:.2f} ms")
    if first_byte := row.get("first_byte_lateness_ms"):
        parts.append(
            f"first byte p50 {first_byte['p50']:.2f} p99 {first_byte['p99']:.2f} max {first_byte['max']:.2f} ms"
        )
    if row["burst_ms"]:
        parts.append(f"first to last {row['burst_ms']:.0f} ms")
    return "  ".join(parts + ([f"limit: {row['limit']}"] if row["limit"] else []))


def main() -> int:
    suites = read()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=[*suites, "page"], help="page: only render the kept results")
    parser.add_argument("--only", nargs="+", metavar="SCENARIO", help="run only these; keep nothing")
    parser.add_argument("--tiny", action="store_true", help="20 workers for a second; keep nothing")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), help="run only these; keep nothing")
    options = parser.parse_args()
    if options.suite == "page":
        page.write(micro.lines())
        return 0
    suite = suites[options.suite]
    if options.only:
        chosen = tuple(one for one in suites["full"].scenarios if one.name in options.only)
        suite = replace(suite, scenarios=chosen)
    if options.tiny:
        suite = replace(suites["smoke"], name=suite.name, scenarios=suite.scenarios)
    missing = {name: reason for name, engine in ENGINES.items() if (reason := engine.missing())}
    for reason in missing.values():
        print(reason)
    began = time.monotonic()
    campaign = Campaign(suite, [name for name in options.engines or ENGINES if name not in missing])
    rows = campaign.run()
    print(f"{len(rows)} rows in {time.monotonic() - began:.0f} s")
    if suite.name in KEPT and not (options.only or options.engines or options.tiny):
        kept = save(document(suite.name, ["make", f"bench-{suite.name}".removesuffix("-bench")], machine(), rows))
        page.write(micro.lines())
        print(f"written: {shown(kept)}, {shown(page.PAGE)}")
    for failure in campaign.failed:
        print(f"benches: {failure}", file=sys.stderr)
    return 3 if campaign.failed else 0


def shown(path: Path) -> Path:
    return path.relative_to(ROOT)


if __name__ == "__main__":
    sys.exit(main())
