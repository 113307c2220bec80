"""One finding for each cause: a number that several rules object to is one thing to change."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probelet.lint.finding import Hit, Severity, at_least
from probelet.lint.model.workload import LintWorkload
from probelet.lint.rule import Rule
from probelet.lint.settings import Settings


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A hit, and the rule that yielded it."""

    rule: Rule
    hit: Hit
    settings: Settings

    @property
    def severity(self) -> Severity | None:
        """After the configuration; None if the user has switched the rule off."""
        return self.settings.severities.get(self.rule.id, self.hit.severity or self.rule.severity)


def one_for_each_cause(workload: LintWorkload, hits: Sequence[RuleHit]) -> Iterator[tuple[Rule, Hit]]:
    """Leaves out each hit whose cause another rule's hit about the same probe names (``Hit.said_by``)."""
    probes = [probe.path for container in workload.containers for probe in container.probes.values()]
    of_probe: defaultdict[str, list[RuleHit]] = defaultdict(list)
    owners = [_owner(each.hit.path, probes) for each in hits]
    for owner, each in zip(owners, hits, strict=True):
        if owner:
            of_probe[owner].append(each)
    for owner, each in zip(owners, hits, strict=True):
        if not _is_said(each, of_probe[owner]):
            yield each.rule, each.hit


def _owner(path: str, probes: Sequence[str]) -> str:
    """The probe that a field belongs to; empty if none."""
    return next((probe for probe in probes if path == probe or path.startswith(f"{probe}.")), "")


def _is_said(each: RuleHit, others: Sequence[RuleHit]) -> bool:
    """True if another hit that is in the report names the cause."""
    severity = each.severity
    return severity is not None and any(
        other.rule.id in each.hit.said_by
        and other.severity is not None
        and at_least(other.severity, severity)
        and not _is_said(other, others)
        for other in others
    )
