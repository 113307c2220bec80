"""A finding: a hit of a rule at its place in a file."""

import msgspec

from probelet.lint.fix.change import Fix
from probelet.lint.severity import Confidence, Severity


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
