"""docs/dev/takeover-cases.md and the tests agree."""

import re

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "dev" / "takeover-cases.md"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
ROW = re.compile(r"^\| ([A-Z])-(\d+) \| (.+) \| (.*) \|$", re.MULTILINE)

EXPECTED = {"A": 9, "N": 9, "M": 8, "P": 4, "R": 4, "K": 6, "L": 8, "W": 6, "B": 4, "I": 13}
"""How many requirements each section has."""


def named_in(path: str) -> set[str]:
    return set(re.findall(r"^(?:async )?def (test_\w+)", (ROOT / "tests" / path).read_text(), re.MULTILINE))


def test_every_named_test_exists() -> None:
    missing = [f"{path}::{test}" for path, test in TEST.findall(PAGE.read_text()) if test not in named_in(path)]
    assert missing == []


def test_every_requirement_has_one_row_with_a_test() -> None:
    rows = ROW.findall(PAGE.read_text())
    assert [(section, int(number)) for section, number, _, _ in rows] == [
        (section, number) for section, count in EXPECTED.items() for number in range(1, count + 1)
    ]
    assert all(TEST.search(tests) for _, _, _, tests in rows)
