"""The report as JUnit XML: a suite for each file, a case for each finding; a file without any has one that passes."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from probelet.base.printable import printable
from probelet.lint.finding import Finding, Severity, at_least


def junit(findings: Sequence[Finding], files: Sequence[str], fails_from: Severity) -> Iterator[str]:
    """The lines of the document. Findings below ``fails_from`` are cases that pass; their message is output."""
    by_file = {file: list(group) for file, group in groupby(findings, key=lambda finding: finding.file)}
    failures = sum(at_least(finding.severity, fails_from) for finding in findings)
    cases = sum(max(len(by_file.get(file, ())), 1) for file in files)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="probelet lint" tests="{cases}" failures="{failures}">'
    for file in files:
        yield from _suite(file, by_file.get(file, []), fails_from)
    yield "</testsuites>"


def _suite(file: str, findings: list[Finding], fails_from: Severity) -> Iterator[str]:
    failures = sum(at_least(finding.severity, fails_from) for finding in findings)
    yield f'  <testsuite name={_attribute(file)} tests="{max(len(findings), 1)}" failures="{failures}">'
    if not findings:
        yield f'    <testcase classname={_attribute(file)} name="no finding"/>'
    for finding in findings:
        name = f"{finding.rule} {finding.object} {finding.path}".strip()
        yield f"    <testcase classname={_attribute(file)} name={_attribute(name)}>"
        text = f"{finding.file}:{finding.line}:{finding.column}: {finding.severity}: {finding.message}"
        if at_least(finding.severity, fails_from):
            yield (
                f"      <failure type={_attribute(finding.severity)} message={_attribute(finding.message)}>"
                f"{_text(text)}</failure>"
            )
        else:
            yield f"      <system-out>{_text(text)}</system-out>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _text(text: str) -> str:
    # XML 1.0 has no way to write most control characters.
    return escape(printable(text))


def _attribute(text: str) -> str:
    return quoteattr(printable(text))
