"""The output of ``probelet backoff load``."""

from dataclasses import dataclass

import msgspec

from probelet.cli.backoff.document import LoadDocument
from probelet.cli.backoff.flags import LifeFlags
from probelet.cli.backoff.table import curve_document
from probelet.cli.columns import columns
from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import print_json, print_lines
from probelet.lab.backoff import Crowd, Curve, Load, load
from probelet.lab.backoff.curve import seconds, seconds_text


@dataclass(frozen=True)
class Node:
    """The crashing containers, and the window in which to count. Times are nanoseconds."""

    pods: int
    containers: int
    succeed: float
    spread: int
    window: int
    requests: float


def show_load(curve: Curve, today: Curve, life: LifeFlags, node: Node, output: str) -> int:
    """Prints the load of a node's containers, beside their load under today's curve."""
    mistakes = []
    if not 0 <= node.succeed <= 1:
        mistakes.append(f"--succeed: {node.succeed:g}: must be between 0 and 1")
    if not 0 <= node.requests <= 1_000:
        mistakes.append(f"--requests: {node.requests:g}: must be between 0 and 1000")
    if mistakes:
        raise CliError(*mistakes)
    try:
        found, base = _load(curve, life, node), _load(today, life, node)
    except ValueError as error:
        raise CliError(f"--window: {error}") from error
    if output == "json":
        print_json(msgspec.json.encode(_document(curve, found, base, life, node)))
    else:
        _print(curve, found, base, life, node)
    return Exit.GOOD


def _load(curve: Curve, life: LifeFlags, node: Node) -> Load:
    total = node.pods * node.containers
    good = round(total * node.succeed)
    crowds = [
        Crowd(curve, total - good, life.life(exit_code=1), node.spread),
        Crowd(curve, good, life.life(exit_code=0), node.spread),
    ]
    return load(crowds, window_ns=node.window, seed=life.seed)


def _document(curve: Curve, found: Load, base: Load, life: LifeFlags, node: Node) -> LoadDocument:
    return {
        "schema": "probelet-backoff-load/1",
        "curve": curve_document(curve),
        "pods": node.pods,
        "containers_per_pod": node.containers,
        "share_succeeding": node.succeed,
        "restart_policy": life.policy,
        "scheduler": life.scheduler,
        "run_seconds": [seconds(each) for each in life.run],
        "window_seconds": seconds(node.window),
        "requests_per_restart": node.requests,
        "restarts": found.restarts,
        "excess_restarts": found.restarts - base.restarts,
        "requests": found.restarts * node.requests,
        "excess_requests": (found.restarts - base.restarts) * node.requests,
        "restarts_per_second": {"mean": found.per_second, "peak": found.peak_per_second},
        "requests_per_second": {
            "mean": found.per_second * node.requests,
            "peak": found.peak_per_second * node.requests,
        },
        "today": {"restarts": base.restarts, "requests": base.restarts * node.requests},
    }


def _print(curve: Curve, found: Load, base: Load, life: LifeFlags, node: Node) -> None:
    low, high = (seconds_text(each) for each in life.run)
    pods = f"{node.pods:,} pods of {node.containers}, {node.succeed:.0%} of the containers exit with 0"
    print_lines(
        f"{pods}; each runs {low if low == high else f'{low}..{high}'}; {life.policy}; {seconds_text(node.window)}"
    )
    both = (base, found)
    each = node.requests
    rows = [
        ["", "today 10s/300s", curve.name],
        ["restarts", *(f"{one.restarts:,}" for one in both)],
        ["more than today", "", f"{found.restarts - base.restarts:+,}"],
        ["restarts/s, mean", *(f"{one.per_second:,.2f}" for one in both)],
        ["restarts/s, busiest second", *(f"{one.peak_per_second:,.0f}" for one in both)],
        [f"API requests, {each:g} a restart", *(f"{one.restarts * each:,.0f}" for one in both)],
        ["API requests/s, mean", *(f"{one.per_second * each:,.1f}" for one in both)],
        ["API requests/s, busiest second", *(f"{one.peak_per_second * each:,.0f}" for one in both)],
    ]
    print_lines(*columns(rows))
