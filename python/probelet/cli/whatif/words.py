"""The outcome of a play in a few lines, 80 columns wide."""

from collections.abc import Iterator
from datetime import datetime
from textwrap import wrap
from typing import TYPE_CHECKING

from probelet.base.printable import one_line

if TYPE_CHECKING:
    from probelet.lab.whatif.document import ChangeRow, HoldPart, OutageRow, RestartRow, StartRow, WhatifDocument

COLUMNS = 80
SHOWN = 20
"""Restarts, and times not ready, that the text lists; the document has all."""


def lines(document: "WhatifDocument") -> list[str]:
    """The lines about a play."""
    return [line for block in _blocks(document) for line in block]


def _blocks(document: "WhatifDocument") -> Iterator[list[str]]:
    recording = document["recording"]
    span = "empty"
    if recording["from_time"] and recording["to_time"]:
        span = f"{_clock(recording['from_time'], dated=True)} to {_clock(recording['to_time'], dated=True)} UTC"
    counts = f"pods: {recording['pods']}, attempts: {recording['attempts']:,}"
    yield _text(f"Recording of {one_line(recording['node'])}, {span}; {counts}.", "")
    yield from (_text(f"Cut by a kill: {one_line(cut)}.", "  ") for cut in recording["cuts"])
    if recording["lost"]:
        yield [f"  {recording['lost']:,} entries are missing, because the disk hung or was full."]
    yield from (_text(text, "  ") for text in _changed(document["changes"]))
    check = document["check"]
    if not check["reproduced"]:
        yield _text(
            f"Take care: with its own settings the recording gives {check['differences']} results "
            "that did not happen so.",
            "  ",
        )
    if document["hold"] is not None:
        yield from _incidents(document["hold"], recording["pods"])
    yield from _restarts(document["restarts"])
    yield from _outages(document["outages"])
    yield from (_text(_start(row), "  ") for row in document["starts"][:SHOWN])
    answers = document["answers"]
    yield _text(
        f"Attempts of the play: {answers['recorded']:,} as recorded, {answers['carried']:,} answered as the "
        f"one before, {answers['unknown']:,} of which nobody knows the answer.",
        "",
    )


def _changed(changes: "list[ChangeRow]") -> Iterator[str]:
    """A line for each change, with the number of containers that have it."""
    found: dict[str, list[str]] = {}
    for row in changes:
        before, after = (("none" if value is None else str(value)) for value in (row["before"], row["after"]))
        text = f"{row['type']}.{row['field']}: {before} -> {after}"
        found.setdefault(text, []).append(f"{row['pod']}/{row['container']}")
    for text, names in found.items():
        where = names[0] if len(set(names)) == 1 else f"{len(set(names))} containers"
        yield f"{text} ({one_line(where)})"


def _incidents(hold: "HoldPart", pods: int) -> Iterator[list[str]]:
    """The incidents for whose end kills wait, and what is not known of them."""
    found = hold["incidents"]
    yield [
        f"Incidents: {len(found)}; with holdKills: {hold['choice']} a kill waits {hold['most_seconds']:g} s at most."
    ]
    for each in found[:SHOWN]:
        end = "the recording's end" if each["ended"] is None else _clock(each["ended"])
        thing = " ".join(part for part in (each["kind"], each["shared"], each["value"]) if part)
        yield _text(f"{_clock(each['since'])} to {end}: {one_line(thing)}: {one_line(each['evidence'])}.", "  ")
    if len(found) > SHOWN:
        yield [f"  and {len(found) - SHOWN} more (-o json has all)"]
    if (unknown := pods - hold["described"]) > 0:
        yield _text(
            f"Of {unknown} pods nobody knows what their probes ask, and their workload is taken from their name: a "
            "recording has neither; the manifests have (--change).",
            "  ",
        )


def _restarts(rows: "list[RestartRow]") -> Iterator[list[str]]:
    really = [row for row in rows if row["really"] is not None]
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in _COUNTED}
    parts = [f"{count} {_COUNTED[outcome]}" for outcome, count in counts.items() if count]
    yield _text(f"Restarts by probes: {len(really)} really" + "".join(f"; {part}" for part in parts) + ".", "")
    yield from (_text(_restart(row), "  ") for row in rows[:SHOWN])
    if len(rows) > SHOWN:
        yield [f"  and {len(rows) - SHOWN} more (-o json has all)"]


_COUNTED = {
    "avoided": "would not have come then",
    "earlier": "earlier",
    "later": "later",
    "added": "only in the play",
    "unknown": "unknown",
}


def _restart(row: "RestartRow") -> str:
    name = one_line(f"{row['pod']}/{row['container']}")
    really, instead = row["really"], row["instead"]
    if really is None:
        at = instead or row["if_failing"] or row["if_healthy"] or ""
        if row["outcome"] == "added":
            killed = f"{_clock(at)} {name}: killed by its {row['instead_by']} probe"
            return f"{killed}; it really lived on, so what follows is unknown."
        return f"{_clock(at)} {name}: unknown: killed if the answers that nobody knows are failures."
    text = f"{_clock(really)} {name}: really killed by its {row['really_by']} probe"
    if row["outcome"] == "same":
        return f"{text}; the same."
    if row["waits_for"] is not None:
        text = f"{text}; its kill would have waited for the end of the incident ({one_line(row['waits_for'])})"
    if row["outcome"] in ("earlier", "later") and instead is not None:
        return f"{text}; {_apart(really, instead)} {row['outcome']}, at {_clock(instead)}."
    if row["outcome"] == "avoided":
        if row["unknown_after"] is None:
            return f"{text}; not killed."
        failing = row["if_failing"]
        later = "" if failing is None else f" had it gone on failing, killed {_apart(really, failing)} later."
        return f"{text}; not killed by then. Unknown after that:{later}"
    return f"{text}; unknown: that depends on answers that nobody knows."


def _outages(rows: "list[OutageRow]") -> Iterator[list[str]]:
    if not rows:
        return
    really = sum(row["really_from"] is not None for row in rows)
    yield [f"Times not ready: {really} really."]
    moved = [row for row in rows if row["outcome"] != "same"]
    yield from (_text(_outage(row), "  ") for row in moved[:SHOWN])
    if len(moved) > SHOWN:
        yield [f"  and {len(moved) - SHOWN} more (-o json has all)"]
    if len(moved) < len(rows):
        yield [f"  {len(rows) - len(moved)} noticed at the same time"]


def _outage(row: "OutageRow") -> str:
    name = one_line(f"{row['pod']}/{row['container']}")
    really, instead = row["really_from"], row["instead_from"]
    if row["outcome"] == "unknown":
        return (
            f"{_clock(really or instead or '')} {name}: not ready; unknown, that depends on answers that nobody knows."
        )
    if really is None:
        return f"{_clock(instead or '')} {name}: not ready only in the play."
    if instead is None:
        return f"{_clock(really)} {name}: really not ready; not noticed."
    return f"{_clock(really)} {name}: not ready; noticed {_apart(really, instead)} {row['outcome']}."


def _start(row: "StartRow") -> str:
    name = one_line(f"{row['pod']}/{row['container']}")
    really = "never" if row["really"] is None else f"at {_clock(row['really'])}"
    instead = "never" if row["instead"] is None else f"at {_clock(row['instead'])}"
    return f"{name}: first ready {instead}, really {really}."


def _text(sentence: str, indent: str) -> list[str]:
    return wrap(sentence, COLUMNS, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)


def _clock(at: str, *, dated: bool = False) -> str:
    """``14:02:11``, with the date where the reader does not know it."""
    return at[:19].replace("T", " ") if dated else at[11:19]


def _apart(one: str, other: str) -> str:
    seconds = abs((datetime.fromisoformat(other) - datetime.fromisoformat(one)).total_seconds())
    return f"{seconds:.1f} s"
