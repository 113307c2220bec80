"""Conformance: plays and compares every recording of a folder; each known difference has a name and a reason."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from probelet_conformance.closed import play_closed
from probelet_conformance.difference import Difference, closed_differences, compare
from probelet_conformance.handlers.case import folder as handler_files
from probelet_conformance.handlers.case.case import Case
from probelet_conformance.handlers.known import reason_for
from probelet_conformance.handlers.play import examined
from probelet_conformance.play import play
from probelet_conformance.reader import load
from probelet_conformance.recording import Recording, RecordingError, read
from probelet_conformance.target import targets

SCHEMA = "probelet-conformance/1"

KNOWN: dict[tuple[str, str], str] = {}
"""(recording, section) -> the reason why it may differ. Each has a line in docs/kubelet-parity.md."""


class Finding(msgspec.Struct, frozen=True):
    """A section in which a recording differs."""

    name: str
    """The recording."""
    section: str
    """The section of the trace."""
    expected: Any
    """The first line that differs, as the kubelet has it; None if it has none there."""
    got: Any
    """The line that probelet has; None if it has none there."""


class Known(msgspec.Struct, frozen=True):
    """A known difference."""

    name: str
    """The recording."""
    section: str
    """The section of the trace."""
    reason: str
    """Why they differ."""


class Report(msgspec.Struct):
    """The result of a folder of recordings."""

    total: int = 0
    """The recordings."""
    equal: int = 0
    """The recordings without a difference, apart from the sections in ``known``."""
    different: list[Finding] = []
    """The sections that differ and are not known to."""
    known: list[Known] = []
    """The sections that are known to differ."""
    refused: list[str] = []
    """A line for each file that holds no recordings; such a file does not count."""
    schema: str = SCHEMA

    def add(self, name: str, judged: list[tuple[str, Difference, str | None]]) -> None:
        """Counts one recording. `judged`: the sections in which it differs, each with its reason if there is one."""
        self.total += 1
        unlisted = False
        for section, difference, reason in judged:
            if reason is not None:
                self.known.append(Known(name, section, reason))
            else:
                unlisted = True
                self.different.append(Finding(name, section, difference.expected, difference.got))
        self.equal += not unlisted


class Header(msgspec.Struct):
    """The fields that every file begins with."""

    schema: str = ""


def conformance(folder: Path, kubelet_version: str | None = None) -> Report:
    """Plays every recording below `folder`: traces of the prober, and cases of its handlers. A file of another kind
    does not end the run.

    `kubelet_version` selects the rules; None is the release that each recording was made with.

    Raises:
        OSError: a target of the recordings cannot get its address or port.
    """
    recordings: list[Recording] = []
    cases: list[Case] = []
    report = Report()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl")):
        try:
            if _holds_cases(path):
                cases += handler_files.load(path)
            else:
                recordings.append(load(path))
        except RecordingError as error:
            report.refused.append(str(error))
    with targets() if any(recording.uses_sockets for recording in recordings) else nullcontext():
        for recording in recordings:
            name, played = recording.scenario.name, _played(recording, kubelet_version)
            report.add(name, [(section, found, KNOWN.get((name, section))) for section, found in played])
    for case, found in examined(cases, kubelet_version):
        # One line per section is enough for a person.
        first: dict[str, Difference] = {}
        for difference in found:
            first.setdefault(difference.section, difference)
        judged = [(section, difference, reason_for(case, difference)) for section, difference in first.items()]
        report.add(case.name, judged)
    return report


def _holds_cases(path: Path) -> bool:
    if path.suffix == ".jsonl":
        return True
    try:
        return msgspec.json.decode(read(path), type=Header).schema == handler_files.SCHEMA
    except msgspec.DecodeError as error:
        raise RecordingError(f"{path}: not a recording: {error}") from error


def _played(recording: Recording, kubelet_version: str | None) -> Iterator[tuple[str, Difference]]:
    for difference in compare(recording, play(recording, kubelet_version)):
        yield difference.section, difference
    if recording.kills:
        for difference in closed_differences(recording, play_closed(recording, kubelet_version)):
            yield f"closed {difference.section}", difference
