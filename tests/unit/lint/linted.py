"""Lints texts as if they were files."""

from collections.abc import Iterable
from pathlib import Path

from probelet.lint.engine import Report, lint
from probelet.lint.finding import Finding
from probelet.lint.registry import rules
from probelet.lint.settings import Settings


def only(*wanted: str) -> Settings:
    """Settings with these rules and no other: a test of the engine counts all findings, and rules come and go."""
    return Settings(severities={rule: None for rule in rules() if rule not in wanted})


ENGINE = only("PL401", *(rule for rule in rules() if rule.startswith("PL0")))
"""The rules about texts, and one about a probe."""


def report(folder: Path, text: str, settings: Settings = ENGINE, name: str = "web.yaml") -> Report:
    """The report about one file with this text, in ``folder``."""
    path = folder / name
    path.write_text(text)
    return lint([path], settings)


def of_rule(findings: Iterable[Finding], rule: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in findings if finding.rule == rule]
