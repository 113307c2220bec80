"""Linting a manifest, however broken, yields findings with a place: no rule fails, no format breaks, and a fix changes
what it says or nothing."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from probelet.cli.lint.document import document
from probelet.cli.lint.github import github
from probelet.cli.lint.junit import junit
from probelet.cli.lint.sarif import sarif
from probelet.cli.lint.text import lines, summary
from probelet.lint.engine import Report, lint
from probelet.lint.fix.fixed import fixed
from probelet.spec.read.load import read_manifest

from fuzz.manifests.budget import SECONDS, SEED, numbers, replay
from fuzz.manifests.mutation import mutated

pytestmark = pytest.mark.timeout(SECONDS * 2 + 30)

# YAML 1.1 counts more line breaks than an editor shows.
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def test_every_manifest_has_a_report_in_every_format(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    for number in numbers(300):
        data = mutated(SEED, number)
        path.write_bytes(data)
        try:
            examine(lint([path]), data)
        except Exception as error:
            raise AssertionError(f"{replay(number)}\n{data[:2000]!r}") from error


def examine(report: Report, data: bytes) -> None:
    assert report.broken_rules == []
    last = len(LINE_BREAK.split(data.decode(errors="replace")))
    for finding in report.findings:
        assert finding.line in range(1, last + 1), finding
        assert finding.column >= 1
    found, files = report.findings, list(report.paths)
    assert len(json.loads(document(found))["findings"]) == len(found)
    assert len(json.loads(sarif(found, "1"))["runs"][0]["results"]) == len(found)
    assert len(list(ET.fromstring("\n".join(junit(found, files, "info"))).iter("failure"))) == len(found)
    assert all(len(line.splitlines()) == 1 for line in github(found))
    texts = (part if isinstance(part, str) else part.text for line in lines(report) for part in line)
    assert all(text.isprintable() for text in (*texts, summary(report)))
    if any(finding.fix is not None and finding.fix.is_safe for finding in found):
        (path,) = report.paths.values()
        text = read_manifest(path)
        result = fixed(text, found)
        assert (result.text != text) == bool(result.done)
