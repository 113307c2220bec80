"""The suites: ``python -m benches bench|full|smoke``. ``bench`` and ``full`` keep their results and render the page."""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benches import micro, page
from benches.engines import ENGINES
from benches.machine import ROOT, machine
from benches.results import document, save
from benches.row import EngineError, Row, bottleneck, measure, saturated
from benches.scenario import Scenario, Suite, read
from benches.target import Watched, target_of

KEPT = ("bench", "full")


class Campaign:
    """A suite in progress."""

    def __init__(self, suite: Suite, engines: list[str]) -> None:
        self.suite = suite
        self.engines = engines
        self.rows: list[Row] = []
        self.failed: list[str] = []
        """Engines that did not finish: the others go on."""
        self._beaten: dict[tuple[str, str], str] = {}
        """The load at which an engine was saturated, by group and engine."""

    def run(self) -> list[Row]:
        for scenario in self.suite.scenarios:
            workers = self.suite.workers or scenario.workers
            print(f"{scenario.title}: {workers:,} workers", flush=True)
            with target_of(scenario.handler, scenario.period, scenario.target) as watched:
                for number in range(self.suite.rounds if scenario.rounds is None else scenario.rounds):
                    self._round(scenario, number, watched)
            self._note_beaten(scenario)
        return self.rows

    def _round(self, scenario: Scenario, number: int, watched: Watched | None) -> None:
        names = [name for name in self.engines if name in scenario.engines]
        with ThreadPoolExecutor(len(names) if self.suite.together else 1) as pool:
            # Whatever else goes wrong is raised here.
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


def sentence(row: Row) -> str:
    cpu, late = row["cpu_us_per_probe"], row["lateness_ms"]
    parts = [f"{row['probes_per_second']:9,.0f}/s", "            -" if cpu is None else f"{cpu:7.1f} us/probe"]
    parts.append(f"{row['false_failures']:6,} false failures")
    if late:
        parts.append(f"late p50 {late['p50']:.2f} p99 {late['p99']:.2f} max {late['max']:.2f} ms")
    return "  ".join(parts + ([f"limit: {row['limit']}"] if row["limit"] else []))


def main() -> int:
    suites = read()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=[*suites, "page"], help="page: only render what is kept")
    parser.add_argument("--only", nargs="+", metavar="SCENARIO", help="these and no others; nothing is kept")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), help="these and no others; nothing is kept")
    options = parser.parse_args()
    if options.suite == "page":
        page.write(micro.lines())
        return 0
    suite = suites[options.suite]
    if options.only:
        chosen = tuple(one for one in suites["full"].scenarios if one.name in options.only)
        suite = Suite(suite.name, suite.rounds, suite.duration, suite.warm, chosen, suite.workers)
    missing = {name: reason for name, engine in ENGINES.items() if (reason := engine.missing())}
    for reason in missing.values():
        print(reason)
    began = time.monotonic()
    campaign = Campaign(suite, [name for name in options.engines or ENGINES if name not in missing])
    rows = campaign.run()
    print(f"{len(rows)} rows in {time.monotonic() - began:.0f} s")
    if suite.name in KEPT and not options.only and not options.engines:
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
