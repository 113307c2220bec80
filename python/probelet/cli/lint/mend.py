"""``--fix`` and ``--diff``: changed texts, on disk or as a difference."""

import difflib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from probelet.base.files.replaced import replace_contents
from probelet.base.printable import printable
from probelet.cli.exit import CliError, Exit
from probelet.cli.lint.request import Request
from probelet.lint.engine import Report
from probelet.lint.fix.fixed import fixed
from probelet.spec.read.load import STDIN, read_manifest

ROUNDS_MAX: Final = 5
"""A fix may bring a finding with a fix of its own; no rule brings back what another one mends."""

_BOM: Final = b"\xef\xbb\xbf"


class Change(NamedTuple):
    """A file that fixes change."""

    path: Path
    before: str
    after: str
    fixes: int
    left: int
    """Fixes that would lose a comment, or change what an anchor shares."""


def difference(request: Request) -> Iterator[str]:
    """The lines of what ``--fix`` would change in one round, as ``patch`` takes them."""
    for change in _changes(request.report()):
        name = "-" if change.path == STDIN else printable(str(change.path))
        before, after = change.before.splitlines(keepends=True), change.after.splitlines(keepends=True)
        for line in difflib.unified_diff(before, after, name, name):
            yield line.rstrip("\r\n")
            if not line.endswith("\n"):
                yield "\\ No newline at end of file"


class Mended(NamedTuple):
    """The outcome of ``--fix``."""

    fixes: int
    files: int
    left: int
    """Fixes that were left to a person."""
    reasons: tuple[str, ...]
    """A line for each change that is no safe one, and why."""


def mend(request: Request) -> Mended:
    """Writes the safe fixes. Raises CliError."""
    if STDIN in request.paths:
        raise CliError("--fix cannot change standard input; --diff shows what it would change")
    count, files, left, report = 0, set[Path](), 0, Report()
    for _ in range(ROUNDS_MAX):
        report = request.report()
        changes = list(_changes(report))
        left = sum(change.left for change in changes)
        for change in changes:
            if not change.fixes:
                continue
            try:
                _write(change.path, change.after)
            except OSError as error:
                raise CliError(f"{change.path}: cannot be written: {error.strerror}", code=Exit.CANNOT) from error
            count += change.fixes
            files.add(change.path)
        if not any(change.fixes for change in changes):
            break
    return Mended(count, len(files), left, tuple(_reasons(report)))


def _reasons(report: Report) -> Iterator[str]:
    for found in report.findings:
        if found.fix is not None and found.fix.left:
            yield f"{found.file}:{found.line}: {found.rule} is left: {found.fix.left}"


def _changes(report: Report) -> Iterator[Change]:
    for path, group in groupby(report.findings, key=lambda finding: report.paths[finding.file]):
        findings = list(group)
        if not any(finding.fix is not None and finding.fix.is_safe for finding in findings):
            continue
        before = report.stdin if path == STDIN else read_manifest(path)
        after = fixed(before, findings)
        yield Change(path, before, after.text, len(after.done), len(after.left))


def _write(path: Path, text: str) -> None:
    """Replaces the contents of a file in one step. A byte order mark stays."""
    mark = _BOM if path.read_bytes().startswith(_BOM) else b""
    replace_contents(path, mark + text.encode())
