"""Compares two traces, section by section."""

from typing import Any

import msgspec

from probelet_conformance.recording import Line, Recording, Trace

SECTIONS = (
    "effective_probes",
    "probes",
    "results",
    "updates",
    "events",
    "statuses",
    "workers",
    "end_results",
    "end_metrics",
)
"""The sections that a replay must reproduce, in the order of cause and effect."""


CLOSED_SECTIONS = ("inputs", "results", "statuses")
"""The sections that a closed replay must reproduce; in it, probelet decides every input of the prober."""


class Difference(msgspec.Struct, frozen=True):
    """The first line in which a section differs; None for a trace that has no line there."""

    section: str
    index: int
    expected: Any
    got: Any


def compare(recording: Recording, trace: Trace) -> list[Difference]:
    """The differences to the recorded trace or its nearest variant; empty if the trace or a variant is equal."""
    candidates = [recording.trace, *(variant.trace for variant in recording.variants)]
    return min((_differences(expected, trace) for expected in candidates), key=len)


def closed_differences(recording: Recording, trace: Trace) -> list[Difference]:
    """The differences of a closed replay: inputs without their causes, results, statuses."""
    candidates = [recording.trace, *(variant.trace for variant in recording.variants)]
    return min((_closed(expected, trace) for expected in candidates), key=len)


def _closed(expected: Trace, got: Trace) -> list[Difference]:
    found = []
    for section in CLOSED_SECTIONS:
        left, right = ([_uncaused(_listed(line)) for line in trace[section]] for trace in (expected, got))
        if section == "results":
            left, right = canonical(section, left), canonical(section, right)
        found.append(_first_of(section, left, right))
    return [difference for difference in found if difference is not None]


def _uncaused(line: Line) -> Line:
    return {key: value for key, value in line.items() if key not in ("cause", "changed")}


def _differences(expected: Trace, got: Trace) -> list[Difference]:
    found = (_first(section, expected.get(section, []), got.get(section, [])) for section in SECTIONS)
    return [difference for difference in found if difference is not None]


def _first(section: str, expected: list[Line], got: list[Line]) -> Difference | None:
    return _first_of(section, canonical(section, expected), canonical(section, got))


def _first_of(section: str, left: list[Line], right: list[Line]) -> Difference | None:
    for index in range(max(len(left), len(right))):
        one = left[index] if index < len(left) else None
        other = right[index] if index < len(right) else None
        if one != other:
            return Difference(section, index, one, other)
    return None


def canonical(section: str, lines: list[Line]) -> list[Line]:
    """The lines in an order that does not depend on the interleaving within one moment.

    Results keep their order within one cache entry, because the order of a set and a removal matters there.
    """
    if section == "workers":
        return _changes(lines)
    if section == "statuses":
        lines = [_listed(line) for line in lines]
    if section == "results":
        return sorted(lines, key=lambda line: (line["t_ms"], line["type"], line["container_id"]))
    return sorted(lines, key=lambda line: (line.get("t_ms", 0), _text(line)))


def _listed(line: Line) -> Line:
    """The line without its empty lists: a recorder may write none, null or nothing for a pod without containers."""
    return {key: value for key, value in line.items() if value is not None and value != []}


def _changes(lines: list[Line]) -> list[Line]:
    """The last snapshot of each moment that differs from the one before."""
    last: dict[int, list[str]] = {}
    for line in lines:
        last[line["t_ms"]] = line["workers"]
    changes: list[Line] = []
    for t_ms, workers in sorted(last.items()):
        if not changes or changes[-1]["workers"] != workers:
            changes.append({"t_ms": t_ms, "workers": workers})
    return changes


def _text(line: Line) -> str:
    return msgspec.json.encode(line, order="sorted").decode()
