"""The facts of two sides, compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.kubelet.beside.facts import SECTIONS, of_node
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.side import Side
from tests.kubelet.beside.verdict.listed import LISTED, Listed

NODE_ITSELF = "(node)"
"""The row of facts that belong to no pod."""


@dataclass(frozen=True)
class Finding:
    """A fact that differs. ``listed`` names the lines of the parity page that explain all of the difference."""

    pod: str
    section: str
    name: str
    kubelet: Any
    probelet: Any
    listed: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.pod, self.section, self.name


def findings(kubelet: Side, probelet: Side) -> list[Finding]:
    """Everything that differs."""
    found: list[Finding] = []
    pace = max(kubelet.pace, probelet.pace)
    for pod in sorted(kubelet.pods() | probelet.pods()):
        for section, facts in SECTIONS.items():
            pair = facts(kubelet, probelet, pod), facts(probelet, kubelet, pod)
            found += different(pod, section, *pair, pace)
    pair = of_node(kubelet), of_node(probelet)
    return [*found, *different(NODE_ITSELF, "node", *pair, pace)]


def different(
    pod: str,
    section: str,
    kubelets: list[Fact],
    probelets: list[Fact],
    pace: float,
    listed: Sequence[Listed] = LISTED,
) -> Iterator[Finding]:
    """The facts of a section that differ, each with the rules of ``listed`` that explain it."""
    mine, theirs = {fact.name: fact for fact in kubelets}, {fact.name: fact for fact in probelets}
    for name in mine | theirs:
        a, b = mine.get(name), theirs.get(name)
        fact: Fact = a or b  # type: ignore[assignment]
        values = a.value if a else None, b.value if b else None
        if not (a and b) or not a.equals(b, pace):
            rules = [rule for rule in listed if rule.covers(section, name, pod)]
            yield Finding(pod, section, name, *values, explained(rules, *values, fact, pace))


def explained(rules: list[Listed], kubelet: Any, probelet: Any, fact: Fact, pace: float = 1.0) -> tuple[str, ...]:
    """The lines that together explain the whole difference; none if something is left of it."""
    used = []
    for rule in rules:
        rest = rule.forget(kubelet, probelet, pace)
        if rest != (kubelet, probelet):
            used.append(rule.anchor)
        kubelet, probelet = rest
    if (kubelet is None) != (probelet is None):
        return ()
    mine, theirs = replace(fact, value=kubelet), replace(fact, value=probelet)
    return tuple(used) if mine.equals(theirs, pace) else ()
