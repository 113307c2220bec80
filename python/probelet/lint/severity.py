"""How bad a finding is, and how sure."""

from typing import Final, Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info"]
Confidence: TypeAlias = Literal["certain", "heuristic"]
"""``heuristic``: the rule guesses from a name, such as that of a path or an image."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""The worst first."""


def at_least(severity: Severity, least: Severity) -> bool:
    """True if ``severity`` is ``least`` or worse."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(least)
