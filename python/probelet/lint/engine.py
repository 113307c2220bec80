"""Lints files: reads them, runs the rules on what they have together, and collects the findings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from probelet.lint.causes import RuleHit, one_for_each_cause
from probelet.lint.facts.unread import unread_commands
from probelet.lint.finding import Finding, Hit
from probelet.lint.model.workload import Scope
from probelet.lint.read.kustomization import Kustomizations
from probelet.lint.read.manifest import InText, Placed, Read, read_source
from probelet.lint.read.source import Source, Unlisted, sources
from probelet.lint.registry import rules
from probelet.lint.rule import Rule
from probelet.lint.settings import Settings
from probelet.lint.suppress.accepted import Accepted
from probelet.spec.read.load import STDIN


@dataclass
class Report:
    """The outcome of a run."""

    findings: list[Finding] = field(default_factory=list)
    """In the order of the files, then of the lines."""
    unreadable: list[str] = field(default_factory=list)
    """A line for each path that cannot be read."""
    unread_commands: list[str] = field(default_factory=list)
    """A line for each command that no rule reads, because it is too long."""
    broken_rules: list[str] = field(default_factory=list)
    """A line for each rule that ended in an exception, which is a mistake of ours."""
    paths: dict[str, Path] = field(default_factory=dict)
    """The files that were read, in their order: name in findings -> path."""
    workloads: int = 0
    suppressed: int = 0
    """Findings that a comment or an annotation accepts."""
    stdin: str = ""
    """The text of standard input, which can be read only once."""
    is_observed: bool = False
    """At least one observation belongs to one of the workloads."""
    others: int = 0
    """Documents that are no Kubernetes objects."""
    patches: int = 0
    """Parts of objects, which kustomize merges into whole ones."""


def lint(paths: Sequence[Path], settings: Settings = Settings(), *, together: bool = False) -> Report:  # noqa: B008
    """Lints files, directories and standard input (``spec.read.load.STDIN``).

    The objects of one directory are seen together, with ``together`` those of all paths.
    """
    report, found = Report(), list[Source]()
    for source in sources(paths):
        if isinstance(source, Unlisted):
            report.unreadable.append(f"{source.name}: cannot be read: {source.reason}")
        else:
            found.append(source)
    order = {source.name: index for index, source in enumerate(found)}
    report.paths |= {source.name: source.path for source in found}
    for read in _read(found, settings, together=together):
        _add(report, read, settings)
    report.findings.sort(key=lambda found: (order[found.file], found.line, found.column, found.rule))
    report.findings = list(_once(report.findings))
    return report


def _once(findings: list[Finding]) -> Iterator[Finding]:
    """Leaves out a finding that says the same of the same place again: an anchor stands for several fields."""
    seen: set[tuple[str, int, int, str, str]] = set()
    for found in findings:
        key = (found.file, found.line, found.column, found.rule, found.message)
        if key not in seen:
            seen.add(key)
            yield found


def objects_of(paths: Sequence[Path], label: str, *, together: bool = False) -> list[dict[str, Any]]:
    """The workload with this label and the Services that select its pods, as plain objects; empty if there is none."""
    found = [source for source in sources(paths) if isinstance(source, Source)]
    for read in _read(found, Settings(), together=together):
        for each in read.objects:
            if each.workload.label == label:
                return [each.root.plain(), *map(msgspec.to_builtins, each.workload.services)]
    return []


def _read(found: list[Source], settings: Settings, *, together: bool) -> Iterator[Read]:
    """Reads the files. The objects of a scope are all known when its first file comes: a Service may stand in a later
    file."""
    kustomizations = Kustomizations()
    for group in [found] if together else _scopes(found):
        scope = Scope(settings)
        yield from [read_source(source, scope, kustomizations) for source in group]


def _scopes(found: list[Source]) -> Iterator[list[Source]]:
    for _, group in groupby(sorted(found, key=lambda source: source.scope), key=lambda source: source.scope):
        yield list(group)


def _add(report: Report, read: Read, settings: Settings) -> None:
    """Adds the findings of one file."""
    if read.text is None:
        report.unreadable.append(f"{read.source.name}: {read.unreadable}")
        del report.paths[read.source.name]
        return
    if read.source.path == STDIN:
        report.stdin = read.text.text
    report.workloads += len(read.objects)
    report.is_observed |= bool(settings.observed) and any(map(_is_observed, read.objects))
    report.others += read.others
    report.patches += read.patches
    accepted = Accepted(read)
    for placed in [*read.findings, *_hits(report, read, settings), *accepted.mistakes]:
        finding = placed.finding
        severity = settings.severities.get(finding.rule, finding.severity)
        if severity is None:
            continue
        if accepted.has(placed):
            report.suppressed += 1
        else:
            report.findings.append(finding.with_severity(severity))


def _hits(report: Report, read: Read, settings: Settings) -> Iterator[Placed]:
    """Yields the findings of the rules in the workloads of one file."""
    for found in read.objects:
        for path, line in unread_commands(found.workload):
            line_number = found.text.place(found.root, path).line
            report.unread_commands.append(f"{found.text.name}:{line_number}: {found.workload.label}: {line}")
    wanted = [rule for rule in rules().values() if _has_input(rule, settings)] if read.objects else []
    for found in read.objects:
        hits = list[RuleHit]()
        for rule in wanted:
            try:
                hits += [RuleHit(rule, hit, settings) for hit in rule.check(found.workload)]
            except Exception as error:
                # A mistake of ours that one manifest brings to light must not hide the findings of the other rules.
                place = f"{found.text.name}: {found.workload.label}"
                report.broken_rules.append(f"{place}: {rule.id} failed: {type(error).__name__}: {error}")
        for rule, hit in one_for_each_cause(found.workload, hits):
            yield Placed(_finding(rule, hit, found), found.root, hit.path)


def _is_observed(found: InText) -> bool:
    workload = found.workload
    return bool(workload.clients) or any(container.observed for container in workload.containers)


def _has_input(rule: Rule, settings: Settings) -> bool:
    """False for a rule about observations if there are none."""
    return bool(settings.observed) or not rule.id.startswith("PO")


def _finding(rule: Rule, hit: Hit, found: InText) -> Finding:
    position = found.text.place(found.root, hit.path)
    return Finding(
        rule=rule.id,
        severity=hit.severity or rule.severity,
        object=found.workload.label,
        path=hit.path,
        file=found.text.name,
        line=position.line,
        column=position.column,
        message=hit.message,
        confidence=hit.confidence or rule.confidence,
        fix=hit.fix,
        document=found.document,
        prefix=found.prefix,
    )
