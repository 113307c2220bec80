"""The report as a ``probelet-lint/1`` document."""

from collections.abc import Iterable
from typing import Final, Literal, NotRequired, TypedDict

import msgspec

from probelet.lint.finding import Finding, Severity

SCHEMA: Final = "probelet-lint/1"


class FindingRow(TypedDict):
    """One finding."""

    rule: str
    """The id of the rule; docs/lint has a page for each."""
    severity: Severity
    """How bad it is."""
    object: str
    """The manifest's object: ``Kind/namespace/name``; empty for a finding about a file."""
    path: str
    """The field from the object's root; empty for the whole object or file. It need not be in the text."""
    file: str
    """The file as the command line named it, or found it below a directory; ``-`` for standard input."""
    line: int
    """From 1: the line of the field, or of its nearest parent in the text."""
    column: int
    """From 1, in characters."""
    message: str
    """One sentence."""
    confidence: NotRequired[Literal["heuristic"]]
    """The rule guesses from a name, such as that of a path."""
    fix: NotRequired[str]
    """The change to make."""


class LintDocument(TypedDict):
    """The findings of ``probelet lint``, in the order of the files, then of the lines."""

    schema: Literal["probelet-lint/1"]
    findings: list[FindingRow]
    """Empty if nothing was found."""


def document(findings: Iterable[Finding]) -> bytes:
    """The document."""
    return msgspec.json.encode(LintDocument(schema=SCHEMA, findings=[_row(finding) for finding in findings]))


def _row(finding: Finding) -> FindingRow:
    row = FindingRow(
        rule=finding.rule,
        severity=finding.severity,
        object=finding.object,
        path=finding.path,
        file=finding.file,
        line=finding.line,
        column=finding.column,
        message=finding.message,
    )
    if finding.confidence == "heuristic":
        row["confidence"] = "heuristic"
    if finding.fix is not None:
        row["fix"] = finding.fix.text
    return row
