"""Renders PACE.md from the kept result; never edit that file by hand."""

from typing import Any, Final

from benches.machine import ROOT
from benches.report.kept import loads, origin

SCHEMA: Final = "probelet-bench-pace/1"
RESULT: Final = ROOT / "benches" / "results" / "pace.json"
PAGE: Final = ROOT / "benches" / "PACE.md"
FIGURES: Final = ("p50_ms", "p99_ms", "max_ms", "fast_rate")

INTRODUCTION: Final = """\
# Ordinary probes beside probes below a second

For readers who decide about `periodMilliseconds`. `make bench-pace` renders this page; no figure is typed by hand. An
engine probes 1,000 ordinary workers once a second over HTTP, in turn alone and beside 100 workers with
`periodMilliseconds: 50`, with the default `extraAttemptsPerSecond: 1000` and without a limit. Lateness is from when an
ordinary attempt was due until it began. The rounds of a turn follow each other at once, in another order each time.

| turn | round | p50, ms | p99, ms | most, ms | ordinary attempts | fast attempts/s |
|---:|---|---:|---:|---:|---:|---:|
"""


def render(report: dict[str, Any]) -> str:
    """The whole page."""
    rows = "".join(
        _row(str(number), name, row) for number, turn in enumerate(report["turns"], 1) for name, row in turn.items()
    )
    medians = "".join(_row("median", name, row) for name, row in report["medians"].items())
    foot = f"\n{origin(report['machine'])}; load {loads(report)}.\n"
    return INTRODUCTION + rows + medians + _verdict(report["medians"]) + foot


def _verdict(medians: dict[str, Any]) -> str:
    alone, beside = medians["alone"], medians["limit 1,000"]
    ratios = {key: beside[key] / alone[key] for key in ("p50_ms", "p99_ms")}
    return f"\nBeside / alone, medians with the limit: p50 {ratios['p50_ms']:.2f}, p99 {ratios['p99_ms']:.2f}.\n"


def _row(turn: str, name: str, row: dict[str, Any]) -> str:
    attempts = row.get("attempts", "")
    figures = f"{row['p50_ms']:.2f} | {row['p99_ms']:.2f} | {row['max_ms']:.2f}"
    return f"| {turn} | {name} | {figures} | {attempts} | {row['fast_rate']:.0f} |\n"
