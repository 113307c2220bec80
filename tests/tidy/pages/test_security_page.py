"""Each bound that docs/security.md promises names a test, and the test exists."""

import re
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "security.md"
THIS_FILE = "tests/tidy/pages/test_security_page.py"
CITED = re.compile(r"`(?P<path>[\w./-]+\.(?:py|rs))(?:(?:::|: )(?P<name>\w+))?`")
"""``tests/test_x.py::test_name``, ``rust/file.rs: test_name``, or a whole file of tests."""


def rows(text: str) -> Iterator[str]:
    """The rows of the table below the heading "Bounds", without its head."""
    section = text.split("\n## Bounds\n", 1)[1].split("\n## ", 1)[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    yield from table[2:]


def missing(row: str) -> str | None:
    """What is wrong with the row's last cell, where its tests stand; None if each of them exists."""
    last = row.rstrip().rstrip("|").rsplit(" | ", 1)[-1]
    cited = list(CITED.finditer(last))
    if not cited:
        return f"names no test: {last.strip()}"
    for test in cited:
        path = ROOT / test["path"]
        if not path.is_file():
            return f"no such file: {test['path']}"
        if test["name"] and not re.search(rf"\b(?:def|fn) {test['name']}\b", path.read_text()):
            return f"{test['path']} has no test {test['name']}"
    return None


def test_every_bound_names_a_test_that_exists() -> None:
    listed = list(rows(PAGE.read_text()))
    assert len(listed) >= 100
    wrong = [f"{row.split('|')[1].strip()}: {why}" for row in listed if (why := missing(row))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("last", "why"),
    [
        ("none", "names no test: none"),
        ("`tests/tidy/no_such.py::test_x`", "no such file: tests/tidy/no_such.py"),
        (
            "`tests/tidy/pages/test_security_page.py::test_x`",
            "tests/tidy/pages/test_security_page.py has no test test_x",
        ),
        (f"`{THIS_FILE}::test_every_bound_names_a_test_that_exists`", None),
        (f"`{THIS_FILE}`", None),
    ],
)
def test_a_row_without_a_real_test_is_found(last: str, why: str | None) -> None:
    assert missing(f"| a queue | a caller | 4 | refused | {last} |") == why
