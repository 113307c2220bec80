"""``make demo``: five example pods under ``probelet run`` for 45 seconds, then ten seconds of 5,000 probes a second.

On a terminal it shows a live table, elsewhere a timeline. At the end it compares what happened with what should have
happened, and exits with 1 if they differ.
"""

import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from probelet.cli.ask.status_table import StatusTable
from probelet.spec import load
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from examples.demo import density
from examples.demo.expectation import SECONDS, Facts, Row, rows
from examples.demo.narration import Narrator
from examples.demo.node import MANIFESTS, DemoError, Node, left_behind, node

LOOK_SECONDS = 0.2
"""Shorter than the time between any two changes of the examples."""
TIMELINE_LINES = 8
"""How many lines of the timeline appear below the live table."""

NEXT = (
    ("probelet run examples/*/pod.yaml", "the same pods, for as long as you like"),
    ("probelet status --watch", "in a second terminal, while they run"),
    ("probelet events --follow", "what happens, as it happens"),
)


def watch(running: Node, facts: Facts, show: Callable[[dict[str, Any], list[str]], None]) -> set[str]:
    """Observes the node until the time is over; returns the addresses of the pods."""
    grace = {pod.pod.metadata.name: pod.pod.spec.termination_grace_period_seconds for pod in load(MANIFESTS).pods}
    narrator = Narrator({name: seconds for name, seconds in grace.items() if seconds is not None})
    addresses: set[str] = set()
    while (second := running.second()) < SECONDS:
        status = running.status()
        facts.look(status, second)
        addresses |= {pod["ip"] for pod in status["pods"] if pod["ip"]}
        told = narrator.changes(status)
        told[:0] = filter(None, map(narrator.event, running.events()))
        show(status, [f"t+{second:.0f} s {sentence}" for sentence in told])
        time.sleep(LOOK_SECONDS)
    return addresses


def pods(console: Console, facts: Facts) -> Row:
    """Plays the first part, and returns how it ended as a row of the result."""
    with node() as running:
        if console.is_terminal:
            addresses = _on_a_terminal(running, facts, console)
        else:
            addresses = watch(running, facts, lambda _, told: _print_lines(told))
        began = time.monotonic()
        code = running.stop()
        took = time.monotonic() - began
    left = left_behind(addresses)
    print(f"t+{SECONDS} s SIGTERM: drained in {took:.1f} s, exit code {code}")
    seen = f"exit code {code}, " + ("; ".join(left) if left else "no process left")
    return Row("the end", "SIGTERM drains: exit code 0, no process left", seen, code == 0 and not left)


def _on_a_terminal(running: Node, facts: Facts, console: Console) -> set[str]:
    timeline: list[str] = []
    with Live(console=console, auto_refresh=False) as live:

        def show(status: dict[str, Any], told: list[str]) -> None:
            timeline.extend(told)
            rest = Text(f"\n{SECONDS - running.second():.0f} s left, Ctrl-C ends it now", "dim")
            story = Text("\n".join(timeline[-TIMELINE_LINES:]))
            live.update(Group(StatusTable(status, unicode=True), Text(), story, rest), refresh=True)

        return watch(running, facts, show)


def _print_lines(lines: list[str]) -> None:
    for line in lines:
        print(line, flush=True)


def many() -> Row:
    """Plays the second part."""
    print(f"\n{density.WORKERS:,} pods, one HTTP probe a second each, one process:", flush=True)
    seen = density.probe(lambda sentence: print(f"  {sentence}", flush=True))
    wanted = density.WORKERS * density.SECONDS
    return Row(
        f"{density.WORKERS:,}/s",
        f"none failed; on a quiet machine {wanted:,} probes within 2 % and p99 lateness under "
        f"{density.LATENESS_P99_MS_BUDGET:g} ms",
        f"{seen.probes:,} probes, {seen.failures} failed; lateness p50 {seen.p50_ms:.2f}, p99 {seen.p99_ms:.2f}, "
        f"max {seen.max_ms:.2f} ms (stamped by the target)",
        # Rate and lateness are only shown, because they depend as much on the other work of this machine. So do
        # failures once probes are so late that little is left of their timeout.
        seen.failures == 0 or seen.p99_ms > density.BUSY_P99_MS,
    )


def report(result: list[Row]) -> bool:
    print("\nexpected and seen:")
    for row in result:
        print(f"  {'as expected' if row.good else 'NOT AS EXPECTED'}: {row.name}")
        print(f"      expected: {row.expected}")
        print(f"      seen:     {row.seen}")
    return all(row.good for row in result)


def main() -> int:
    signal.signal(signal.SIGTERM, _interrupt)
    console = Console()
    print(f"probelet run examples/*/pod.yaml, for {SECONDS} seconds:", flush=True)
    try:
        facts = Facts()
        end = pods(console, facts)
        result = [*rows(facts), end, many()]
    except DemoError as error:
        print(f"the demo cannot go on: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("\nended early; nothing is left behind")
        return 130
    good = report(result)
    print("\nnext:")
    for command, meaning in NEXT:
        print(f"  .venv/bin/{command:<34} {meaning}")
    return 0 if good else 1


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
