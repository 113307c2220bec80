"""docs/dev/enhanced-liveness-cases.md and the tests agree."""

import re

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "dev" / "enhanced-liveness-cases.md"
TESTS = ROOT / "tests"
FOLDER = TESTS / "unit" / "beside" / "guard"
# The node's side: the prober, and requests.
NODE = (TESTS / "unit/agent/enhanced", TESTS / "unit/beside/probes", TESTS / "unit/agent/recreate")
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
ID = re.compile(r"^\| ([DWMRSFTC]-\w+|laws) \|", re.MULTILINE)

EXPECTED = {
    *(f"D-{number}" for number in range(1, 18)),
    *(f"W-{number}" for number in range(1, 13)),
    *(f"M-{number}" for number in range(1, 16)),
    *(f"R-{number}" for number in range(1, 19)),
    *("R-B", "R-Q", "R-T", "R-X", "laws"),
    *(f"S-{number}" for number in range(1, 6)),
    *(f"C-{number}" for number in range(1, 10)),
    *(
        f"F-{number}"
        for number in (
            "1",
            "1b",
            "1c",
            "2",
            "2b",
            "2c",
            "3",
            "4",
            "5",
            "6",
            "8",
            "9",
            "10",
            "11",
            "12",
            "13",
            "15",
            "16",
            "17",
        )
    ),
    *(f"T-{number}" for number in (1, *range(3, 17), *range(20, 44))),
}


def named_in(path: str) -> set[str]:
    folder = TESTS if path.startswith(("unit/", "system/", "cluster/")) else FOLDER
    return set(re.findall(r"^(?:async )?def (test_\w+)", (folder / path).read_text(), re.MULTILINE))


def test_every_named_test_exists() -> None:
    named = TEST.findall(PAGE.read_text())
    missing = [f"{path}::{test}" for path, test in named if test not in named_in(path)]
    assert missing == []


def test_every_requirement_has_one_row() -> None:
    found = ID.findall(PAGE.read_text())
    assert sorted(found) == sorted(EXPECTED)


def test_every_test_with_an_id_in_its_name_is_named() -> None:
    named = {test for _, test in TEST.findall(PAGE.read_text())}
    with_id = {
        test
        for folder in (FOLDER, *NODE)
        for path in folder.rglob("test_*.py")
        for test in named_in(path.relative_to(TESTS).as_posix())
        if re.match(r"test_(upstream|[dwmrsftc]\d+[bc]?)_", test)
    }
    assert with_id - named == set()
