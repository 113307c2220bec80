"""A hit, which a rule yields, and a finding: the same at its place in a file."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from probelet.lint.change import Fix

Severity: TypeAlias = Literal["error", "warning", "info"]
Confidence: TypeAlias = Literal["certain", "heuristic"]
"""``heuristic``: the rule guesses from a name, such as that of a path or an image."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""The worst first."""


def at_least(severity: Severity, least: Severity) -> bool:
    """True if ``severity`` is ``least`` or worse."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(least)


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule has something to say."""

    path: str
    """The field, from the object's root. It need not be in the text: then its nearest parent is the place."""
    message: str
    """One sentence with the seconds put in. It names the container where a pod has several."""
    severity: Severity | None = None
    """None: the rule's."""
    confidence: Confidence | None = None
    """None: the rule's."""
    fix: Fix | None = None
    said_by: tuple[str, ...] = ()
    """The ids of rules whose finding about the same probe has the same cause. If there is one that is at least as
    severe, it is the only one: a reader has one thing to change."""


class Place:
    """The part of an object at which a rule hits: a workload, a container or a probe."""

    path: str
    """From the object's root."""

    def of(self, message: str) -> str:
        """Returns ``message`` for a reader who sees the whole object and not this part of it."""
        return message

    def hit(
        self,
        field: str,
        message: str,
        *,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
        said_by: tuple[str, ...] = (),
    ) -> Hit:
        """A hit at a field of this part, such as ``timeoutSeconds`` or ``httpGet.path``; empty for the part itself."""
        return Hit(f"{self.path}.{field}".strip("."), self.of(message), severity, confidence, fix, said_by)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report."""

    rule: str
    """The id."""
    severity: Severity
    """After the configuration."""
    object: str
    """``Kind/namespace/name``; empty for a finding about a file."""
    path: str
    """The field from the object's root, such as ``spec.template.spec.containers[0].livenessProbe.timeoutSeconds``;
    empty for the whole object or file. The field need not be in the text."""
    file: str
    """The file as the user named it, ``-`` for standard input."""
    line: int
    """From 1: the line of the field, or of its nearest parent in the text; 0 if the file has no text."""
    column: int
    """From 1, in characters; 0 if the file has no text."""
    message: str
    confidence: Confidence = "certain"
    fix: Fix | None = None
    document: int = 0
    """The number of the object's document in the file, from 0."""
    prefix: str = ""
    """The path of the object in its document: ``items[0]``, or empty."""

    def with_severity(self, severity: Severity) -> "Finding":
        """The finding with another severity."""
        return self if severity == self.severity else msgspec.structs.replace(self, severity=severity)
