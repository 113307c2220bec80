"""Renders docs/incidents.md from the kept results; its figures are all measured."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Template
from typing import Any, Final

from benches.incidents.builtin import EXPECTED
from benches.report.kept import origin
from tests.support.paths import ROOT

RESULTS: Final = ROOT / "benches" / "results" / "incidents.json"
PAGE: Final = ROOT / "docs" / "incidents.md"
TEMPLATE: Final = Path(__file__).parent / "incidents.md"
NOISE: Final = 0.01
"""A difference in lost requests that counts."""
WRONG_MAX: Final = 20
"""The clusters that the page lists by their seeds."""


def render(found: dict[str, Any]) -> str:
    """The page for these results."""
    rows = found["random"]
    right = sum(row["is_right"] for row in rows)
    values = {
        "random": _table(_by_fault(rows)),
        "builtin": _table(_by_scenario(found["builtin"])),
        "quiet": _table(_by_chance(found["quiet"])),
        "count": f"{len(rows):,}",
        "right": f"{right:,}",
        "share": f"{right / len(rows):.1%}",
        "named": _share(row for row in rows if row["kind"] == "shared" and row["named"]),
        "unnamed": _share(row for row in rows if row["kind"] == "shared" and not row["named"]),
        "others": f"{sum(row['others'] > 0 for row in rows):,}",
        "seed": found["seed"],
        "hours": f"{sum(row['hours'] for row in found['quiet']):,}",
        "false": f"{sum(row['incidents'] for row in found['quiet']):,}",
        "wrong": _wrong(rows),
        "pods": f"{found['large']['pods']:,}",
        "kib": f"{found['large']['kib']:,}",
        "micros": f"{found['large']['micros_a_turn']:.0f}",
        "peak": _mib(found["large"]["peak_kib"]),
        **_cluster(found["cluster"]),
        **_history(found["history"]),
        **_readers(found["readers"]),
        "held": _table(_held_by_fault(found["held"]["random"])),
        "held_builtin": _table(_held_by_scenario(found["held"]["builtin"])),
        "held_count": f"{len(found['held']['random']):,}",
        "held_worse": _held_worse(found["held"]),
        "held_points": _held_points(found["held"]),
        "cost": _table(_by_state(found["cost"])),
        "cost_pods": found["cost"]["pods"],
        "cost_windows": found["cost"]["windows"],
        "cost_seconds": f"{found['cost']['window_seconds']:g}",
        "cost_origin": origin({key: found["cost"]["machine"][key] for key in ("cpu", "python", "commit")}),
        "origin": origin({key: found["machine"][key] for key in ("cpu", "python", "commit")}),
    }
    return Template(TEMPLATE.read_text()).substitute(values)


def _by_fault(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    yield ["what breaks", "class", "clusters", "right", "periods until then: median", "95 %", "since the fault: median"]
    for fault in dict.fromkeys(row["fault"] for row in rows):
        these = [row for row in rows if row["fault"] == fault]
        soon = sorted(row["periods"] for row in these if row["periods"] is not None)
        since = sorted(row["since_fault"] for row in these if row["since_fault"] is not None)
        middle, late = _at(soon, 0.5), _at(soon, 0.95)
        yield [fault, these[0]["kind"], str(len(these)), _share(these), middle, late, _at(since, 0.5)]


def _by_scenario(rows: dict[str, Any]) -> Iterator[list[str]]:
    yield ["scenario", "what breaks", "class", "found", "after periods", "incidents in all"]
    for name, expected in EXPECTED.items():
        row = rows[name]
        judged = row["verdict"]
        if expected.kind is None:
            yield [f"`{name}`", expected.what, "none", "none" if not row["began"] else "wrong", "", str(row["began"])]
            continue
        found = judged["found"] or "none" if judged is not None else "none"
        shown = found if judged is not None and judged["is_right"] else f"**{found}**"
        periods = "" if judged is None or judged["periods"] is None else f"{judged['periods']:.1f}"
        yield [f"`{name}`", expected.what, expected.kind, shown, periods, str(row["began"])]


def _by_chance(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    yield ["an attempt fails once in", "clusters", "hours", "attempts", "failed", "incidents"]
    for row in rows:
        counts = [f"{row[key]:,}" for key in ("clusters", "hours", "attempts", "failed", "incidents")]
        yield [f"{round(1 / row['chance']):,}", *counts]


def _held_by_fault(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    yield [
        "what breaks",
        "clusters",
        "requests lost: off",
        "shared",
        "change",
        "kills: off",
        "shared",
        "better",
        "worse",
        "the worst, in points of all requests",
    ]
    for fault in dict.fromkeys(row["fault"] for row in rows):
        these = [row for row in rows if row["fault"] == fault]
        better = sum(_gain(row) > NOISE for row in these)
        yield [fault, str(len(these)), *_off_and_on(these), str(better), *_worse(these)]
    better = sum(_gain(row) > NOISE for row in rows)
    yield ["**all**", str(len(rows)), *_off_and_on(rows), str(better), *_worse(rows)]


def _worse(rows: list[dict[str, Any]]) -> list[str]:
    return [str(sum(map(_is_worse, rows))), f"{max(0.0, *map(_points, rows)):.2f}"]


def _points(row: dict[str, Any]) -> float:
    """The share of all requests sent that waiting loses more, in percentage points."""
    return 100 * (int(row["shared"]["lost"]) - int(row["off"]["lost"])) / max(int(row["off"]["offered"]), 1)


def _held_points(found: dict[str, Any]) -> str:
    rows = (*found["random"], *found["builtin"])
    return f"{sum(_points(row) > 1 for row in rows)} of all {len(rows)}"


def _held_by_scenario(rows: list[dict[str, Any]]) -> Iterator[list[str]]:
    yield ["scenario", "liveness asks", "requests lost: off", "shared", "change", "kills: off", "shared"]
    for row in rows:
        asks = "as readiness" if row["deadly"] else "its process"
        yield [f"`{row['scenario']}`", asks, *_off_and_on([row])]


def _off_and_on(rows: list[dict[str, Any]]) -> list[str]:
    lost, kills = ([sum(row[how][what] for row in rows) for how in ("off", "shared")] for what in ("lost", "kills"))
    change = (lost[1] - lost[0]) / lost[0] if lost[0] else 0.0
    return [*(f"{each:,}" for each in lost), f"{change:+.1%}", *(f"{each:,}" for each in kills)]


def _gain(row: dict[str, Any]) -> float:
    """The share of the lost requests that waiting saves; negative if it loses more."""
    before, after = int(row["off"]["lost"]), int(row["shared"]["lost"])
    return (before - after) / max(before, 1)


def _is_worse(row: dict[str, Any]) -> bool:
    return _gain(row) < -NOISE


def _held_worse(found: dict[str, Any]) -> str:
    rows = [row for row in (*found["random"], *found["builtin"]) if _is_worse(row)]
    shown = [
        f"{_name(row)}: {row['off']['lost']:,} to {row['shared']['lost']:,} of {row['off']['offered']:,}"
        f" ({_points(row):+.2f} points)"
        for row in sorted(rows, key=_gain)
    ]
    return "; ".join(shown) or "none"


def _name(row: dict[str, Any]) -> str:
    return f"`{row['scenario']}`" if "scenario" in row else f"seed {row['seed']} ({row['fault']})"


def _by_state(found: dict[str, Any]) -> Iterator[list[str]]:
    yield ["the probes", "event loop: true", "false", "difference, the middle half", "whole process: true", "false"]
    for name, state in (("are well", found["well"]), ("all fail, in one incident", found["failing"])):
        loop_on, loop_off, on, off = (f"{state[key]:.0f} µs" for key in ("loop_on", "loop_off", "on", "off"))
        yield [name, loop_on, loop_off, f"{state['from']:.0f} to {state['to']:.0f} µs", on, off]


def _cluster(found: dict[str, Any]) -> dict[str, str]:
    names = {"cluster_pods": f"{found['pods']:,}", "cluster_nodes": f"{found['nodes']:,}"}
    sizes = {f"cluster_{which}": _mib(found[f"{which}_kib"]) for which in ("known", "peak")}
    return {**names, **sizes, "cluster_mib": _mib(found["kib"])}


def _history(found: dict[str, Any]) -> dict[str, str]:
    sides, many = [found[f"least_{side}_ns"] for side in ("with", "without")], found["large"]
    return {
        "history_turns": f"{found['turns']:,}",
        "history_runs": f"{found['runs']:,}",
        "history_workers": f"{found['workers']:,}",
        "history_with": f"{sides[0]:.0f}",
        "history_without": f"{sides[1]:.0f}",
        "history_more": f"{sides[0] - sides[1]:.0f}",
        "history_middle": f"{found['with_ns'] - found['without_ns']:.0f}",
        "history_many": f"{many['workers']:,}",
        "history_large": f"{many['least_with_ns'] - many['least_without_ns']:.0f}",
        "history_instructions": f"{found['instructions']:.0f}" if "instructions" in found else "an uncounted number of",
        "history_bytes": f"{found['bytes']:,}",
        "history_failures": f"{found['failures_bytes']:,}",
        "history_origin": _origin(found, "rust"),
    }


def _readers(found: dict[str, Any]) -> dict[str, str]:
    return {
        "readers": f"{found['readers']:,}",
        "readers_pods": f"{found['pods']:,}",
        "readers_pairs": f"{found['pairs']:,}",
        "readers_seconds": f"{found['window_seconds']:g}",
        "readers_answers": f"{found['answers_a_second']:.0f}",
        "readers_kib": f"{found['kib_an_answer']:.0f}",
        "readers_more": f"{found['more']:.1f}",
        "readers_table": _table(_by_readers(found)),
        "readers_origin": _origin(found, "python"),
    }


def _by_readers(found: dict[str, Any]) -> Iterator[list[str]]:
    yield ["readers of the page", "event loop, % of a core", "whole process, % of a core"]
    for name, row in (("none", found["none"]), (str(found["readers"]), found["with"])):
        yield [name, f"{row['loop']:.1f}", f"{row['process']:.1f}"]


def _mib(kib: int) -> str:
    return f"{kib / 1024:.1f}"


def _origin(found: dict[str, Any], compiler: str) -> str:
    return origin({key: found["machine"][key] for key in ("cpu", compiler, "commit")})


def _wrong(rows: list[dict[str, Any]]) -> str:
    wrong = [row for row in rows if not row["is_right"]]
    shown = [
        f"seed {row['seed']}: {row['fault']}, found {row['found'] or 'nothing'}"
        + (f" ({row['value']})" if row["value"] else "")
        for row in wrong[:WRONG_MAX]
    ]
    more = len(wrong) - len(shown)
    return "; ".join([*shown, *([f"{more} more"] if more else [])]) or "none"


def _share(rows: Iterable[dict[str, Any]]) -> str:
    listed = list(rows)
    right = sum(row["is_right"] for row in listed)
    return f"{right} ({right / len(listed):.0%})" if listed else "-"


def _at(ordered: list[float], share: float) -> str:
    return f"{ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.1f}" if ordered else "-"


def _table(rows: Iterable[list[str]]) -> str:
    head, *rest = rows
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rest])
