"""Lints texts as if they were files."""

from collections.abc import Iterable
from pathlib import Path

from probelet.lint.engine import Report, lint
from probelet.lint.finding import Finding
from probelet.lint.settings import Settings


def report(folder: Path, text: str, settings: Settings = Settings(), name: str = "web.yaml") -> Report:  # noqa: B008
    """The report about one file with this text, in ``folder``."""
    path = folder / name
    path.write_text(text)
    return lint([path], settings)


def of_rule(findings: Iterable[Finding], rule: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in findings if finding.rule == rule]
