"""The report for a person: the findings under their files, and a line that sums them up."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from probelet.base.printable import one_line
from probelet.cli.terminal import Colour, Painted
from probelet.lint.engine import Report
from probelet.lint.finding import SEVERITIES, Finding, Severity
from probelet.lint.registry import rules

Line: TypeAlias = Sequence[str | Painted]

COLOURS: Final[Mapping[Severity, Colour]] = {"error": "red", "warning": "yellow", "info": "cyan"}


def lines(report: Report) -> Iterator[Line]:
    """The findings of each file below its name, and how many each rule has."""
    for file, group in groupby(report.findings, key=lambda finding: finding.file):
        yield [Painted(one_line(file), "bold")]
        found = list(group)
        places = [f"{finding.line}:{finding.column}" for finding in found]
        width = max(map(len, places))
        for place, finding in zip(places, found, strict=True):
            severity = Painted(finding.severity, COLOURS[finding.severity])
            gap = " " * (len("warning") - len(finding.severity))
            yield [f"  {place:<{width}}  ", severity, f"{gap}  {finding.rule}  {one_line(_sentence(finding))}"]
        yield [""]
    yield from _by_rule(report.findings)


def _by_rule(findings: list[Finding]) -> Iterator[Line]:
    """A line for each rule, the worst first; none for a single finding."""
    if len(findings) < 2:
        return
    counts = Counter((SEVERITIES.index(finding.severity), finding.rule) for finding in findings)
    digits = max(len(str(count)) for count in counts.values())
    for (severity, rule), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0][1])):
        word = SEVERITIES[severity]
        painted, gap = Painted(word, COLOURS[word]), " " * (len("warning") - len(word))
        yield [f"{count:>{digits}} ", painted, f"{gap}  {rule}  {rules()[rule].name}"]
    yield [""]


def _sentence(finding: Finding) -> str:
    owner = f"{finding.object}: " if finding.object else ""
    guess = " (a guess)" if finding.confidence == "heuristic" else ""
    return f"{owner}{finding.message}{guess}"


def summary(report: Report, known: int = 0) -> str:
    """One line: what was found and where; ``known`` findings are in the baseline."""
    counts = Counter(finding.severity for finding in report.findings)
    found = ", ".join(many(counts[severity], severity) for severity in SEVERITIES if counts[severity])
    having = len({finding.file for finding in report.findings})
    files, workloads = many(len(report.paths), "file"), many(report.workloads, "workload")
    parts = [f"{found} in {having} of {files} with {workloads}" if found else f"no finding in {files} with {workloads}"]
    counted = {"suppressed": report.suppressed, "in the baseline": known}
    parts += [f"{count} {what}" for what, count in counted.items() if count]
    if report.patches:
        parts.append(f"passed over: {many(report.patches, 'part')} of objects that kustomize merges")
    if report.others:
        parts.append(f"passed over: {many(report.others, 'document')} of other kinds than Kubernetes objects")
    return "; ".join(parts)


def many(count: int, what: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{count} {what}" if count == 1 or what == "info" else f"{count} {what}s"
