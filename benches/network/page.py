"""Renders NETWORK.md from the kept result; never edit that file by hand."""

from typing import Any, Final

from benches.machine import ROOT
from benches.report.kept import loads, origin

SCHEMA: Final = "probelet-bench-network/1"
RESULT: Final = ROOT / "benches" / "results" / "network.json"
PAGE: Final = ROOT / "benches" / "NETWORK.md"
RATIO_MAX: Final = 1.15

INTRODUCTION: Final = """\
# What a probe from inside its pod costs

For readers who decide about `network: pod`. `make bench-network` renders this page; no figure is typed by hand. An
engine makes 1,000 HTTP attempts a second to {pods} pods, in turn with `network: pod` into a namespace each and in the
ordinary way to a loopback address each; one server process answers all. CPU is the processor time of the engine's
threads for each attempt, so what the kernel does for the server is not in it. The thread beside the engine's own makes
the sockets; its part is in the sum. A pair is two rounds that follow each other at once.

| pair | ordinary, µs | `network: pod`, µs | of that the other thread, µs | ratio | attempts/s | bad workers |
|---:|---:|---:|---:|---:|---:|---:|
"""


def render(report: dict[str, Any]) -> str:
    """The whole page."""
    rows = "".join(_row(number, pair) for number, pair in enumerate(report["pairs"], 1))
    reached = "reached" if report["ratio"] <= RATIO_MAX else "missed"
    verdict = f"\nMedian ratio: {report['ratio']:.2f}. The budget of {RATIO_MAX} is {reached}.\n"
    foot = f"\n{origin(report['machine'])}; load {loads(report)}.\n"
    return INTRODUCTION.format(pods=report["pods"]) + rows + verdict + foot


def _row(number: int, pair: dict[str, Any]) -> str:
    ordinary, inside = pair["rows"]
    rates = f"{ordinary['rate']:.0f} / {inside['rate']:.0f}"
    bad = ordinary["bad_workers"] + inside["bad_workers"]
    return (
        f"| {number} | {ordinary['cpu_us']:.1f} | {inside['cpu_us']:.1f} | {inside['of_the_other_thread_us']:.1f} "
        f"| {pair['ratio']:.2f} | {rates} | {bad} |\n"
    )
