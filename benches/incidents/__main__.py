"""Plays clusters of which it is known what breaks, and renders docs/incidents.md: ``python -m benches.incidents``."""

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final

from benches.incidents import page
from benches.incidents.builtin import EXPECTED, builtin
from benches.incidents.cluster import cluster
from benches.incidents.cost import cost
from benches.incidents.held import held, held_scenario
from benches.incidents.history import history
from benches.incidents.large import large
from benches.incidents.quiet import quiet
from benches.incidents.readers import readers
from benches.incidents.verdict import judge
from benches.incidents.world import world
from benches.machine import ROOT, machine

PARTS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "large": large,
    "cluster": cluster,
    "cost": cost,
    "history": history,
    "readers": readers,
}
"""The parts without random clusters."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="random clusters")
    parser.add_argument(
        "--seed", type=int, default=10_000, help="seed of the first one; those below 1,000 tuned the rules"
    )
    parser.add_argument("--hours", type=int, default=10_000, help="quiet hours")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--only", choices=("random", "held", *PARTS), help="measure this part, and keep the other results"
    )
    parser.add_argument("--page", action="store_true", help="only render the kept results")
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    options = parser.parse_args()
    if not options.page:
        if options.only is None:
            found = measured(options.count, options.seed, options.hours, options.processes)
        else:
            found = json.loads(page.RESULTS.read_text()) | only(options)
        if options.dry:
            return 0
        page.RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    page.PAGE.write_text(page.render(json.loads(page.RESULTS.read_text())))
    print(f"written: {page.PAGE.relative_to(ROOT)}")
    return 0


def only(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one part."""
    match options.only:
        case "random":
            return played(options.count, options.seed, options.hours, options.processes)
        case "held":
            part = held_kills(options.count, options.seed, options.processes)
        case name:
            part = with_machine(PARTS[name]())
    print(json.dumps({options.only: part})[:1_000], flush=True)
    return {options.only: part}


def measured(count: int, seed: int, hours: int, processes: int) -> dict[str, Any]:
    """All figures."""
    return {
        **played(count, seed, hours, processes),
        "held": held_kills(count, seed, processes),
        **{name: with_machine(part()) for name, part in PARTS.items()},
    }


def played(count: int, seed: int, hours: int, processes: int) -> dict[str, Any]:
    """What the detector says of random clusters, of the scenarios, and of quiet hours."""
    began = time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        rows = [row for row in pool.map(one, range(seed, seed + count), chunksize=5) if row is not None]
        print(f"{len(rows)} random clusters after {time.monotonic() - began:.0f} s", flush=True)
        scenarios = dict(zip(EXPECTED, pool.map(scenario, EXPECTED), strict=True))
        print(f"{len(scenarios)} scenarios after {time.monotonic() - began:.0f} s", flush=True)
    quiet_hours = [each.row() for each in quiet(hours, seed)]
    print(f"quiet hours after {time.monotonic() - began:.0f} s: {quiet_hours}", flush=True)
    print(f"{sum(row['is_right'] for row in rows)} of {len(rows)} right", flush=True)
    return {
        "command": f"python -m benches.incidents --count {count} --seed {seed} --hours {hours}",
        "seed": seed,
        "machine": machine(),
        "random": rows,
        "builtin": scenarios,
        "quiet": quiet_hours,
    }


def held_kills(count: int, seed: int, processes: int) -> dict[str, Any]:
    """Requests lost and kills with kills that wait and without."""
    with ProcessPoolExecutor(processes) as pool:
        rows = list(pool.map(held, range(seed, seed + count), chunksize=5))
        cases = [(name, deadly) for deadly in (False, True) for name in EXPECTED]
        scenarios = list(pool.map(scenario_held, cases))
    return {"random": rows, "builtin": scenarios, "commit": machine()["commit"]}


def scenario_held(case: tuple[str, bool]) -> dict[str, Any]:
    """A scenario with kills that wait and without."""
    name, deadly = case
    return held_scenario(name, deadly=deadly)


def with_machine(found: dict[str, Any]) -> dict[str, Any]:
    """Figures with the machine on which they were measured."""
    return {**found, "machine": machine()}


def one(seed: int) -> dict[str, Any] | None:
    """The verdict about one random cluster; None if its fault made no attempt fail."""
    found = judge(seed, world(seed))
    return None if found is None else found.row()


def scenario(name: str) -> dict[str, Any]:
    """The verdict about one scenario."""
    found, began = builtin(name)
    return {"verdict": None if found is None else found.row(), "began": began}


if __name__ == "__main__":
    raise SystemExit(main())
