"""The words of a suppression: ``PL101,PL205 reason=the cache is the pod's own``."""

import re
from typing import Final, NamedTuple

from probelet.lint.registry import rules
from probelet.lint.rule import Rule
from probelet.lint.rules.manifest.pl006_suppression_without_reason import RULE as WITHOUT_REASON
from probelet.lint.rules.manifest.pl007_unknown_suppression import RULE as UNKNOWN

WANTED: Final = "PL101 reason=why it is right here"

_ENTRY: Final = re.compile(r"(?P<rules>[^\s=]+)(?:\s+reason\s*=\s*(?P<reason>.*))?", re.DOTALL)


class Entry(NamedTuple):
    """The rules that one suppression names; empty if it has a mistake, because then it suppresses nothing."""

    rules: frozenset[str]
    mistake: tuple[Rule, str] | None = None
    """The rule of the finding about it, and its message."""


def read_entry(text: str) -> Entry:
    """Reads a list of rule ids and the reason."""
    match = _ENTRY.fullmatch(text.strip())
    if match is None:
        return _mistake(UNKNOWN, f"this suppression cannot be read; write {WANTED}")
    ids = match["rules"].split(",")
    unknown = [found for found in ids if found not in rules()]
    if unknown:
        return _mistake(UNKNOWN, f"there is no rule {unknown[0]}; 'probelet lint --rules' lists them")
    if not (match["reason"] or "").strip():
        message = f"a suppression needs a reason, and without one it suppresses nothing; write {ids[0]} reason=..."
        return _mistake(WITHOUT_REASON, message)
    return Entry(frozenset(ids))


def _mistake(rule: Rule, message: str) -> Entry:
    return Entry(frozenset(), (rule, message))
