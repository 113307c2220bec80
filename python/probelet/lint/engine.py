"""Lints files: reads them, runs the rules on what they have together, and collects the findings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from probelet.lint.finding import Finding
from probelet.lint.read.manifest import InText, Read, read_source
from probelet.lint.read.source import Source, Unlisted, sources
from probelet.lint.registry import rules
from probelet.lint.rule import Hit, Rule
from probelet.lint.settings import Settings
from probelet.lint.world.world import World


@dataclass
class Report:
    """The outcome of a run."""

    findings: list[Finding] = field(default_factory=list)
    """In the order of the files, then of the lines."""
    unreadable: list[str] = field(default_factory=list)
    """A line for each path that cannot be read."""
    files: int = 0
    workloads: int = 0
    others: int = 0
    """Documents that are no Kubernetes objects."""
    patches: int = 0
    """Parts of objects, which kustomize merges into whole ones."""


def lint(paths: Sequence[Path], settings: Settings = Settings(), *, together: bool = False) -> Report:  # noqa: B008
    """Lints files, directories and standard input (``spec.read.load.STDIN``).

    The objects of one directory are seen together, with ``together`` those of all paths.
    """
    report = Report()
    found: list[Source] = []
    for source in sources(paths):
        if isinstance(source, Unlisted):
            report.unreadable.append(f"{source.name}: cannot be read: {source.reason}")
        else:
            found.append(source)
    order = {source.path: index for index, source in enumerate(found)}
    findings: list[tuple[int, Finding]] = []
    for scope in [found] if together else _scopes(found):
        world = World(settings)
        # Every file is read before a rule runs: a Service may stand in a later file.
        read = [read_source(source, world) for source in scope]
        for each in read:
            _count(report, each)
            findings += [(order[each.source.path], finding) for finding in _findings(each, settings)]
    findings.sort(key=lambda item: (item[0], item[1].line, item[1].column, item[1].rule))
    report.findings += [finding for _, finding in findings]
    return report


def _scopes(found: list[Source]) -> Iterator[list[Source]]:
    for _, group in groupby(sorted(found, key=lambda source: source.scope), key=lambda source: source.scope):
        yield list(group)


def _count(report: Report, read: Read) -> None:
    report.files += 1
    report.workloads += len(read.objects)
    report.others += read.others
    report.patches += read.patches
    if read.unreadable:
        report.unreadable.append(f"{read.source.name}: {read.unreadable}")


def _findings(read: Read, settings: Settings) -> Iterator[Finding]:
    """The findings of one file."""
    for finding in read.findings:
        if settings.severities.get(finding.rule, finding.severity) is not None:
            yield finding
    for found in read.objects:
        for rule in rules().values():
            if settings.severities.get(rule.id, rule.severity) is not None:
                for hit in rule.check(found.workload):
                    yield _finding(rule, hit, found, settings)


def _finding(rule: Rule, hit: Hit, found: InText, settings: Settings) -> Finding:
    position = found.text.place(found.root, hit.path)
    severity = settings.severities.get(rule.id) or hit.severity or rule.severity
    return Finding(
        rule=rule.id,
        severity=severity,
        object=found.workload.label,
        path=hit.path,
        file=found.text.name,
        line=position.line,
        column=position.column,
        message=hit.message,
        confidence=hit.confidence or rule.confidence,
        fix=hit.fix,
    )
