"""docs/dev/upstream-cases.md and the tests agree: every row names an existing test, or the reason why there is none."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "dev" / "upstream-cases.md"
ROW = re.compile(r"^\| (?P<row>[A-Z]+\d+) \| (?P<case>[^|]+) \| (?P<ours>.+) \|$", re.MULTILINE)
TEST = re.compile(r"`([\w/.]+)::(\w+)`")
COUNTS = {
    "W": 33, "M": 10, "P": 15, "H": 26, "T": 2, "G": 6, "E": 6, "Q": 4, "C": 5, "VA": 16, "K": 18, "X": 25, "Y": 6,
    "B": 31, "I": 9, "V": 15,
}  # fmt: skip
"""How many rows each table of upstream cases has."""

REASON_CHARACTERS_MIN = 30


def expected() -> Iterator[str]:
    for letter, count in COUNTS.items():
        yield from (f"{letter}{number}" for number in range(1, count + 1))


LISTED = {match["row"]: match["ours"] for match in ROW.finditer(PAGE.read_text())}


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """The ids of all tests in the Python files that the page names."""
    files = sorted({file for ours in LISTED.values() for file, _ in TEST.findall(ours) if file.endswith(".py")})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", "-p", "no:cacheprovider", *files]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout
    return {line for line in answer.stdout.splitlines() if "::" in line}


def test_every_row_is_listed_once() -> None:
    rows = [match["row"] for match in ROW.finditer(PAGE.read_text())]
    assert rows == list(dict.fromkeys(rows))
    assert set(rows) == set(expected())


def test_every_named_test_exists_and_has_its_row_in_its_id(collected: set[str]) -> None:
    missing = []
    for row, ours in LISTED.items():
        for file, test in TEST.findall(ours):
            if file.endswith(".rs"):
                found = f"fn {test}()" in (ROOT / file).read_text()
            elif file.startswith("tests/kubelet/upstream/"):
                found = any(
                    re.match(rf"{re.escape(f'{file}::{test}')}\[(?:.*-)?{row}(?:[-\]])", id) for id in collected
                )
            else:
                found = any(id.split("[")[0] == f"{file}::{test}" for id in collected)
            if not found:
                missing.append(f"{row}: {file}::{test}")
    assert missing == []


def test_a_row_without_a_test_gives_a_reason() -> None:
    bare = {row: ours for row, ours in LISTED.items() if not TEST.search(ours)}
    assert {row: reason for row, reason in bare.items() if len(reason) < REASON_CHARACTERS_MIN} == {}
    assert set(bare) == {"P15", "H19", "Q4", "B23", "B24", "B25", "B31", "I7", "V7", "V8", "V9"}


def test_every_row_in_a_test_id_is_listed_with_that_test(collected: set[str]) -> None:
    carried = re.compile(
        r"(tests/kubelet/upstream/[\w/]+\.py)::(\w+)\[(?:[^\]]*?-)??((?:VA|[BWMPHTGEQCKXYIV])\d+)(?:[-\]])"
    )
    unlisted = sorted(
        {
            f"{row}: {file}::{test}"
            for id in collected
            for file, test, row in carried.findall(id)
            if f"`{file}::{test}`" not in LISTED.get(row, "")
        }
    )
    assert unlisted == []
