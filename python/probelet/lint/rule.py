"""The fields of a rule, and the ways in which its check sees a workload."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from probelet.lint.finding import Confidence, Hit, Severity
from probelet.lint.model.workload import LintContainer, LintProbe, LintWorkload
from probelet.lint.settings import Settings
from probelet.spec.model.probe import PROBE_TYPES, ProbeType

Check: TypeAlias = Callable[[LintWorkload], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, with everything that its page, its test and ``--explain`` need. ``docs/lint`` has a page for each."""

    id: str
    """``PL`` and three digits, or ``PO`` for a rule about observations. The first digit of a ``PL`` rule is its group:
    0 the manifest itself, 1 readiness, 2 liveness, 3 start-up, 4 fields and targets, 5 costs and neighbours, 6 several
    workloads."""
    name: str
    """Words with hyphens that say what is wrong: ``liveness-faster-than-readiness``."""
    severity: Severity
    """The usual one; a hit may have another one."""
    summary: str
    """One sentence for a list of rules."""
    why: str
    """The consequence for the pod, for a person who meets the rule for the first time: paragraphs in Markdown."""
    source: tuple[str, ...]
    """Where the rule comes from: a section of the article, a file of the kubelet, addresses of issues."""
    example: str
    """A manifest with this finding, as short as it can be, and the same one without it, written as one diff: the first
    column is ``-`` where a line is in ``bad`` alone, and ``+`` where it is in ``good`` alone. The API server would
    accept both."""
    check: Check
    formula: str = ""
    """The comparison, in the letters of ``explain`` (d, p, T, F, S); empty for a rule without arithmetic."""
    fix: str = ""
    """The advice beyond what ``good`` shows."""
    confidence: Confidence = "certain"
    scenario: str = ""
    """The scenario of ``probelet simulate`` in which a finding shows (``--prove``); empty if there is none."""
    settings: Settings = field(default_factory=Settings)
    """The settings of the user of both examples, such as the clients' timeout, for a rule that needs it."""

    @property
    def bad(self) -> str:
        """The manifest with this finding."""
        return self._side("-")

    @property
    def good(self) -> str:
        """The same manifest without it."""
        return self._side("+")

    def _side(self, mark: str) -> str:
        lines = self.example.lstrip("\n").splitlines(keepends=True)
        return "".join(line[1:] if line.strip() else line for line in lines if line[0] in (" ", "\n", mark))


def on_workloads(check: Check) -> Check:
    """A check of workloads, such as of their replicas or Services."""
    return check


def on_containers(check: Callable[[LintContainer], Iterable[Hit]]) -> Check:
    """A check of each container that has a probe: regular containers and sidecars."""

    def of(workload: LintWorkload) -> Iterator[Hit]:
        for container in workload.probed:
            yield from check(container)

    return of


def on_probes(check: Callable[[LintProbe], Iterable[Hit]], *types: ProbeType) -> Check:
    """A check of each probe of these types; of every type if there are none."""
    wanted = types or PROBE_TYPES

    def of(workload: LintWorkload) -> Iterator[Hit]:
        for container in workload.probed:
            for probe_type in wanted:
                probe = container.probes.get(probe_type)
                if probe is not None:
                    yield from check(probe)

    return of


def by_reading(_: LintWorkload) -> Iterator[Hit]:
    """The check of a rule whose findings come from reading the text (``read/``): it yields nothing."""
    return iter(())
