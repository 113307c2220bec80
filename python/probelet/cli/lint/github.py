"""The report as commands of a GitHub workflow: each becomes an annotation of the line."""

from collections.abc import Iterable, Iterator
from typing import Final

from probelet.lint.finding import Finding, Severity
from probelet.lint.registry import rules

_COMMANDS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "notice"}


def github(findings: Iterable[Finding]) -> Iterator[str]:
    """A command for each finding (actions/toolkit, packages/core/src/command.ts)."""
    for finding in findings:
        rule = rules()[finding.rule]
        title = _property(f"{rule.id} {rule.name}")
        place = f"file={_property(finding.file)},line={max(finding.line, 1)},col={max(finding.column, 1)}"
        owner = f"{finding.object}: " if finding.object else ""
        yield f"::{_COMMANDS[finding.severity]} {place},title={title}::{_data(owner + finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
