"""The report as SARIF 2.1.0 (OASIS), for code scanning services."""

import hashlib
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec

from probelet.lint.finding import Finding, Severity
from probelet.lint.registry import rules
from probelet.lint.rule import Rule

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}


def sarif(findings: Sequence[Finding], version: str) -> bytes:
    """The log of one run; ``version`` is probelet's. Only rules with a finding are described."""
    met = sorted({finding.rule for finding in findings})
    index = {rule: number for number, rule in enumerate(met)}
    driver = {
        "name": "probelet lint",
        "version": version,
        "semanticVersion": version,
        "rules": [_rule(rules()[rule]) for rule in met],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.rule]) for finding in findings],
    }
    return msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(rule.why.split())},
        "help": {"text": rule.fix.strip() or rule.summary, "markdown": rule.why.strip()},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"precision": "high" if rule.confidence == "certain" else "medium", "tags": ["kubernetes"]},
    }


def _result(finding: Finding, index: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.file.replace("\\", "/"))}}
    if finding.line:
        place["region"] = {"startLine": finding.line, "startColumn": max(finding.column, 1)}
    location: dict[str, Any] = {"physicalLocation": place}
    if finding.object:
        name = f"{finding.object} {finding.path}".strip()
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [location],
        # What a baseline recognises too: the finding stays the same one while its line and its numbers change.
        "partialFingerprints": {"probelet/v1": _fingerprint(finding)},
    }


def _fingerprint(finding: Finding) -> str:
    parts = (finding.rule, finding.file, finding.object, finding.path)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
