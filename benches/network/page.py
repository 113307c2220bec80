"""Renders NETWORK.md from the kept result; never edit that file by hand."""

from typing import Any, Final

from benches.machine import ROOT
from benches.report.kept import loads, origin

SCHEMA: Final = "probelet-bench-network/2"
RESULT: Final = ROOT / "benches" / "results" / "network.json"
PAGE: Final = ROOT / "benches" / "NETWORK.md"
RATIO_MAX: Final = 1.15

INTRODUCTION: Final = """\
# What a probe from inside its pod costs

For readers who decide about `network: pod`. `make bench-network` renders this page; no figure is typed by hand. {pods}
pods have a network namespace each and a veth pair to a bridge, as on a node, and one server process answers in all of
them. An engine makes 1,000 HTTP attempts a second, in turn in three ways: with `network: pod` to the pods, in the
ordinary way to the same pods, and in the ordinary way to {pods} loopback addresses of this machine, where the same
server answers without any namespace. The last is the cheapest attempt there is, and no pod of a node can be had
for it.

CPU is the processor time of the engine's threads for each attempt. On one machine the thread that sends does what the
kernel does for the receiver too, so the way of the packets is in it, the server is not. The thread beside the engine's
own makes the sockets; its part is in the sum. The rounds of a turn follow each other at once, in an order that changes.

| turn | loopback, µs | ordinary, µs | `network: pod`, µs | sockets, µs | to ordinary | to loopback | attempts/s |
|---:|---:|---:|---:|---:|---:|---:|---:|
"""


def render(report: dict[str, Any]) -> str:
    """The whole page."""
    rows = "".join(_row(number, turn) for number, turn in enumerate(report["turns"], 1))
    verdicts = "".join(f"- {_verdict(report['ratios'][mode], name)}\n" for mode, name in _YARDSTICKS.items())
    foot = f"{origin(report['machine'])}; load {loads(report)}.\n"
    return INTRODUCTION.format(pods=report["pods"]) + rows + f"\n{verdicts}\n{_bad_workers(report)}\n{foot}"


_YARDSTICKS: Final = {
    "ordinary": "an ordinary attempt at the same pods",
    "loopback": "an ordinary attempt at a loopback address",
}


def _verdict(ratio: float, yardstick: str) -> str:
    reached = "reached" if ratio <= RATIO_MAX else "missed"
    return f"Median ratio to {yardstick}: {ratio:.2f}. The budget of {RATIO_MAX} is {reached}."


def _row(number: int, turn: dict[str, Any]) -> str:
    loopback, ordinary, inside = (turn["rows"][mode] for mode in ("loopback", "ordinary", "pod"))
    rates = " / ".join(f"{row['rate']:.0f}" for row in (loopback, ordinary, inside))
    ratios = turn["ratios"]
    return (
        f"| {number} | {loopback['cpu_us']:.1f} | {ordinary['cpu_us']:.1f} | {inside['cpu_us']:.1f} "
        f"| {inside['of_the_other_thread_us']:.1f} | {ratios['ordinary']:.2f} | {ratios['loopback']:.2f} | {rates} |\n"
    )


def _bad_workers(report: dict[str, Any]) -> str:
    """The rounds in which an attempt failed, with the causes."""
    bad = [
        f"turn {number}, {mode}: {row['bad_workers']} workers ({', '.join(row['causes']) or 'answered again since'})"
        for number, turn in enumerate(report["turns"], 1)
        for mode, row in turn["rows"].items()
        if row["bad_workers"]
    ]
    return f"Workers with an attempt that failed: {'; '.join(bad) or 'none'}.\n"
