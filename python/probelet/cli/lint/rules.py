"""The rules for a person: the list, and one with everything about it."""

import difflib
from collections.abc import Iterator

from probelet.cli.exit import CliError
from probelet.lint.registry import rules
from probelet.lint.rule import Rule


def listing() -> Iterator[str]:
    """A line for each rule."""
    found = rules().values()
    width = max(len(rule.name) for rule in found)
    for rule in found:
        yield f"{rule.id}  {rule.severity:<7}  {rule.name:<{width}}  {rule.summary}"


def explanation(name: str) -> Iterator[str]:
    """Everything about the rule with this id or name. Raises CliError."""
    known = {key: rule for rule in rules().values() for key in (rule.id, rule.name)}
    rule = known.get(name) or known.get(name.upper())
    if rule is None:
        close = difflib.get_close_matches(name, known, n=1)
        meant = f'; did you mean "{close[0]}"?' if close else ""
        raise CliError(f'there is no rule "{name}"{meant}', hint="probelet lint --rules")
    return _about(rule)


def _about(rule: Rule) -> Iterator[str]:
    guess = ", a guess from names" if rule.confidence == "heuristic" else ""
    yield f"{rule.id} {rule.name} ({rule.severity}{guess})"
    yield rule.summary
    yield from ("", *rule.why.strip().splitlines())
    if rule.formula:
        yield from ("", f"Formula: {rule.formula}")
    if rule.fix:
        yield from ("", f"Mend it: {' '.join(rule.fix.split())}")
    for title, text in (("Bad:", rule.bad), ("Good:", rule.good)):
        yield from ("", title, *(f"  {line}".rstrip() for line in text.strip().splitlines()))
    yield from ("", "Sources:", *(f"  {source}" for source in rule.source))
