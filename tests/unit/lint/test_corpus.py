"""Manifests that people wrote, in 31 public repositories: no rule fails, every place is right, few files have an error,
and every safe fix is one. The folder is not a part of the project; ``shared/corpus`` beside a folder above the
repository has it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from probelet.lint.change import Change, Remove, Replace, Set
from probelet.lint.engine import Report, lint
from probelet.lint.fix.fixed import fixed
from probelet.spec.read.tree import steps

from tests.support.paths import ROOT
from tests.unit.lint.fix.manifests import finding, probes

CORPUS = next((path for parent in ROOT.parents if (path := parent / "shared" / "corpus").is_dir()), None)

pytestmark = pytest.mark.skipif(CORPUS is None, reason="no folder shared/corpus with other people's manifests")

LARGE_BYTES = 16 * 1024
"""Larger files are a few, and each change of each probe reads its file again."""


@pytest.fixture(scope="module")
def corpus() -> Path:
    assert CORPUS is not None
    return CORPUS / "manifests"


@pytest.fixture(scope="module")
def linted(corpus: Path) -> Report:
    return lint([corpus])


def test_every_file_is_read_and_no_rule_fails(linted: Report) -> None:
    assert (linted.unreadable, linted.broken_rules) == ([], [])
    assert len(linted.paths) > 150
    assert linted.workloads > 200


def test_each_finding_is_at_its_field_or_a_parent_of_it(linted: Report) -> None:
    texts: dict[str, list[str]] = {}
    for found in linted.findings:
        lines = texts.setdefault(found.file, linted.paths[found.file].read_text().splitlines())
        at = lines[found.line - 1][found.column - 1 :]
        names = [name for name in steps(found.path) if not name.isdecimal()]
        # An element of a list begins with any of its own fields.
        begins = at.startswith(("-", "{", '"')) or at.partition(":")[0].strip("\"'") in (*names, "name", "image")
        assert begins or not found.path, f"{found.file}:{found.line}: {found.path}: {at}"


def test_errors_are_rare(linted: Report) -> None:
    files = {found.file for found in linted.findings if found.severity == "error"}
    assert len(files) < len(linted.paths) / 10, sorted(files)


def test_no_guess_is_an_error(linted: Report) -> None:
    assert [found for found in linted.findings if found.severity == "error" and found.confidence == "heuristic"] == []


def test_every_safe_fix_is_carried_out_or_left(linted: Report) -> None:
    by_file: dict[str, list[object]] = {}
    for found in linted.findings:
        if found.fix is not None and found.fix.is_safe:
            by_file.setdefault(found.file, []).append(found)
    for file, findings in by_file.items():
        result = fixed(linted.paths[file].read_bytes().decode(), findings)  # type: ignore[arg-type]
        assert len(result.done) + len(result.left) == len(findings)


def changes(path: str, names: set[str]) -> Iterator[Change]:
    """Changes that have an edit in every layout."""
    yield Set(f"{path}.added", 42)
    yield Set(f"{path}.added", {"a": {"b": [1, "x y"]}, "c": "on"})
    if "periodSeconds" in names:
        yield Set(f"{path}.periodSeconds", 77)
        yield Replace(f"{path}.periodSeconds", "other", {"port": 1})
    if "periodSeconds" in names and "timeoutSeconds" in names:
        yield Remove(f"{path}.timeoutSeconds")


def test_probes_of_real_files_can_be_changed_and_nothing_else_changes(corpus: Path) -> None:
    done = left = 0
    for path in sorted(corpus.rglob("*.y*ml")):
        if path.stat().st_size > LARGE_BYTES:
            continue
        text = path.read_bytes().decode()
        for document, field, node in probes(text):
            assert isinstance(node.value, dict)
            possible = list(changes(field, {*node.value}))
            # `fixed` itself compares the objects and the comments before and after.
            result = fixed(text, [finding(possible[(done + left) % len(possible)], document=document)])
            done += len(result.done)
            left += len(result.left)
    assert done > 200
    assert left < done / 50
