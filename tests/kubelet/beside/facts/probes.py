"""Which probes and hooks each container got, and when: of the first two instances, by the notes of the target."""

import itertools
import json
from statistics import median

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.pods.changes import REMOVED
from tests.kubelet.beside.seen.instance import Instance, Note, at
from tests.kubelet.beside.seen.side import Side
from tests.kubelet.beside.seen.text import text

FIRST_SECONDS, PERIOD_SECONDS, LAST_SECONDS, MEDIAN_SECONDS = 1.3, 0.06, 0.5, 0.1
WITHIN_RUN_SECONDS = 0.1
"""Requests that follow each other sooner belong to one run of a probe: redirects, and its second and third try."""
REQUEST = ("uri", "method", "proto", "host", "headers", "tls", "close", "deadline", "local")
HOOK, PERIOD = " hook", ": period, s"


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    theirs = {fact.name for fact in _all(other, pod)}
    # A container that went early has too few runs for a period.
    return [fact for fact in _all(side, pod) if fact.name in theirs or not fact.name.endswith(PERIOD)]


def _all(side: Side, pod: str) -> list[Fact]:
    found = []
    for name, rows in side.of(pod).items():
        for number, one in enumerate([one for one in rows if one.started and one.started < side.end_of(pod)][:2]):
            moved = pod in REMOVED or (number == 0 and pod.startswith(("change-", "killed", "file-broken")))
            found += _of_instance(f"{name} {number}", one, side.end_of(pod), moved)
    return found


def _of_instance(where: str, one: Instance, end: float, moved: bool) -> list[Fact]:
    """``moved``: its end depends on when the comparison changed or removed it."""
    found = []
    ended = bool(one.finished) and one.finished < end and not moved
    runs = {probe: [note for note in notes if at(note) < end] for probe, notes in sorted(one.probes().items())}
    for probe, notes in runs.items():
        if notes:
            found += _of_probe(f"{where}: {probe}", one, notes, ended, moved)
    marks = [_mark(note) for note in one.notes if note["what"] in ("signal", "exit", "gone") and at(note) < end]
    return [*found, Fact(f"{where}: signals and ends", marks)]


def _of_probe(where: str, one: Instance, notes: list[Note], ended: bool, moved: bool) -> list[Fact]:
    moments = [at(note) for note in notes]
    between = (after - before for before, after in itertools.pairwise(moments))
    steps = [step for step in between if step > WITHIN_RUN_SECONDS]
    usual = median(steps) if steps else 1.0
    found = [Fact(f"{where}: request", sorted({request(note) for note in notes}))]
    if not (where.endswith(HOOK) and moved):
        found.append(Fact(f"{where}: first, after s", moments[0] - one.started, max(FIRST_SECONDS, usual + 0.3)))
    if len(steps) > 2:
        found.append(Fact(f"{where}{PERIOD}", usual, PERIOD_SECONDS))
    if ended:
        found.append(Fact(f"{where}: how many", len(notes), 1))
        # Where a probe's ticks lie between those of the probe that kills is chance, so up to a period is.
        slack = max(LAST_SECONDS, usual)
        found.append(Fact(f"{where}: last, s before the end", one.finished - moments[-1], slack))
    return found


def request(note: Note) -> str:
    """What the target saw of a request."""
    return text(json.dumps({part: note[part] for part in REQUEST if part in note}, sort_keys=True))


def _mark(note: Note) -> str:
    return f"{note['what']} {note.get('signal', note.get('code', note.get('name', '')))}"


def medians(side: Side) -> list[Fact]:
    """Of all containers with both probes: how soon after the startup probe's success readiness is probed."""
    waits = []
    for one in side.instances.values():
        runs = one.probes()
        startup = next((notes for probe, notes in runs.items() if probe in ("http s", "http s1")), None)
        readiness = next((notes for probe, notes in runs.items() if probe in ("http r", "http r1")), None)
        if startup and readiness and one.attempt == 0 and at(startup[0]) < at(readiness[0]):
            waits.append(at(readiness[0]) - max(at(note) for note in startup if at(note) < at(readiness[0])))
    usual = median(waits or [0.0])
    return [Fact("median: from startup's success to readiness, s", usual, MEDIAN_SECONDS, is_median=True)]
