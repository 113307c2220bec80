"""The output of ``probelet backoff table`` and ``compare``."""

from collections.abc import Sequence
from typing import Final

import msgspec

from probelet.cli.backoff.document import ComparedCurve, ComparisonDocument, CurveDocument, RestartRow, TableDocument
from probelet.cli.backoff.flags import LifeFlags
from probelet.cli.columns import columns
from probelet.cli.exit import Exit
from probelet.cli.terminal import print_json, print_lines
from probelet.lab.backoff import Crowd, Curve, Restart, load, restarts
from probelet.lab.backoff.curve import seconds, seconds_text
from probelet.spec.text.duration import SECOND

WINDOWS_SECONDS: Final = (30, 60, 300, 600, 1800, 3600)
"""Ends of the windows in which ``compare`` counts restarts; a window includes its end."""


def curve_document(curve: Curve) -> CurveDocument:
    """A curve as part of a JSON document."""
    return {
        "name": curve.name,
        "initial_seconds": seconds(curve.initial_ns),
        "max_seconds": seconds(curve.max_ns),
        "factor": curve.factor,
        "reset_seconds": seconds(curve.reset_ns),
        "jitter": curve.jitter,
        "first_free": curve.first_free,
    }


def show_table(curve: Curve, life: LifeFlags, count: int, output: str) -> int:
    """Prints the restarts of one container."""
    found = restarts(curve, life.life(), count=count, seed=life.seed)
    late = life.scheduler == "kubelet"
    if output == "json":
        document: TableDocument = {
            "schema": "probelet-backoff/1",
            "curve": curve_document(curve),
            "restarts": [_row(restart, late) for restart in found],
        }
        print_json(msgspec.json.encode(document))
        return Exit.GOOD
    heads = ["restart", "at", "delay", *(["late"] if late else [])]
    print_lines(*columns([heads, *(_cells(restart, late) for restart in found)]))
    return Exit.GOOD


def _row(restart: Restart, late: bool) -> RestartRow:
    row: RestartRow = {"n": restart.n, "at_seconds": seconds(restart.at_ns), "delay_seconds": seconds(restart.delay_ns)}
    return {**row, "late_seconds": seconds(restart.late_ns)} if late else row


def _cells(restart: Restart, late: bool) -> list[str]:
    cells = [str(restart.n), seconds_text(restart.at_ns), seconds_text(restart.delay_ns)]
    return [*cells, f"{seconds(restart.late_ns)}s"] if late else cells


def show_comparison(curves: Sequence[Curve], today: Curve, life: LifeFlags, count: int, output: str) -> int:
    """Prints curves side by side."""
    found = [restarts(curve, life.life(), count=count, seed=life.seed) for curve in curves]
    base = _counts(today, life)
    counts = [_counts(curve, life) for curve in curves]
    if output == "json":
        rows: list[ComparedCurve] = [
            {
                **curve_document(curve),
                "restarts": [_row(restart, False) for restart in each],
                "counts": [
                    {"seconds": window, "restarts": have, "excess": have - had}
                    for window, have, had in zip(WINDOWS_SECONDS, counted, base, strict=True)
                ],
            }
            for curve, each, counted in zip(curves, found, counts, strict=True)
        ]
        comparison: ComparisonDocument = {"schema": "probelet-backoff-compare/1", "curves": rows}
        print_json(msgspec.json.encode(comparison))
        return Exit.GOOD
    names = [curve.name for curve in curves]
    rows_at = [
        [str(n + 1), *(seconds_text(each[n].at_ns) if n < len(each) else "-" for each in found)] for n in range(count)
    ]
    rows_in = [
        [f"{window}s", *(_excess(counted[index], base[index]) for counted in counts)]
        for index, window in enumerate(WINDOWS_SECONDS)
    ]
    print_lines("Restart n at, since the first start:", *columns([["", *names], *rows_at]))
    print_lines("\nRestarts in the first, and how many more than 10s/300s:", *columns([["", *names], *rows_in]))
    return Exit.GOOD


def _excess(have: int, had: int) -> str:
    return f"{have} ({have - had:+})" if have != had else f"{have} (=)"


def _counts(curve: Curve, life: LifeFlags) -> list[int]:
    crowd = [Crowd(curve, 1, life.life())]
    return [
        load(crowd, window_ns=each * SECOND, slot_ns=each * SECOND, seed=life.seed).restarts for each in WINDOWS_SECONDS
    ]
