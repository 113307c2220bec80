"""Conformance: every recording of a folder, played and compared; known differences have a name and a reason."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from .closed import play_closed
from .difference import Difference, closed_differences, compare
from .play import play
from .recording import Recording, load
from .target import targets

SCHEMA = "probelet-conformance/1"

KNOWN: dict[tuple[str, str], str] = {}
"""(recording, section) that may differ, and why. Each has a line in docs/kubelet-parity.md."""


class Finding(msgspec.Struct, frozen=True):
    """A recording that differs in a section."""

    name: str
    section: str
    expected: Any
    got: Any


class Known(msgspec.Struct, frozen=True):
    """A difference that is listed."""

    name: str
    section: str
    reason: str


class Report(msgspec.Struct):
    """What a folder came to. `equal` counts recordings that are equal in every section, open and closed."""

    total: int = 0
    equal: int = 0
    different: list[Finding] = []
    known: list[Known] = []
    schema: str = SCHEMA


def conformance(folder: Path) -> Report:
    """Play every recording below `folder`.

    Raises:
        RecordingError: a file is not a recording.
        OSError: a socket recording is there and its target's port is taken.
    """
    recordings = [load(path) for path in sorted(folder.rglob("*.json"))]
    report = Report()
    with targets() if any(recording.uses_sockets for recording in recordings) else nullcontext():
        for recording in recordings:
            _judge(report, recording)
    return report


def _judge(report: Report, recording: Recording) -> None:
    name = recording.scenario.name
    report.total += 1
    unlisted = False
    for mode, difference in _differences(recording):
        section = mode + difference.section
        reason = KNOWN.get((name, section))
        if reason is not None:
            report.known.append(Known(name, section, reason))
        else:
            unlisted = True
            report.different.append(Finding(name, section, difference.expected, difference.got))
    report.equal += not unlisted


def _differences(recording: Recording) -> Iterator[tuple[str, Difference]]:
    for difference in compare(recording, play(recording)):
        yield "", difference
    if recording.kills:
        for difference in closed_differences(recording, play_closed(recording)):
            yield "closed ", difference
