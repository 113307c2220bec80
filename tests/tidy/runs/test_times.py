"""The table of tests/README.md names the folders that there are, and its seconds come from a report."""

import pytest

from tests.support.paths import ROOT
from tests.support.report import Phase
from tests.support.times import PAGE, belongs, longest, patterns, rows, with_seconds

TABLE = """
<!-- folders -->
| folder | what it shows | needs | seconds | run by |
|---|---|---|---|---|
| `unit/` | modules | | 1 | `make test` |
| `system/run/`, `system/test_*.py` | pods | root | 2 | `make test` |
| `cluster/` | a cluster | root | half an hour | `make e2e-cluster` |
| `../fuzz/` | inputs | | 3 | `make test` |
<!-- end -->
"""


def phase(module: str, seconds: float, name: str = "test_a") -> Phase:
    return Phase(f"{module}::{name}", "call", "passed", seconds, seconds / 2, "gw0")


def test_every_test_is_in_one_folder_of_the_table() -> None:
    table = rows(PAGE.read_text())
    modules = [
        path.relative_to(ROOT).as_posix() for top in ("tests", "fuzz") for path in (ROOT / top).rglob("test_*.py")
    ]
    assert len(modules) > 500
    homes = {module: [patterns(row) for row in table if belongs(module, row)] for module in modules}
    assert {module: found for module, found in homes.items() if len(found) != 1} == {}


def test_the_table_names_only_folders_that_there_are() -> None:
    places = [place for row in rows(PAGE.read_text()) for place in patterns(row)]
    assert [place for place in places if not any((ROOT / "tests").glob(place))] == []


@pytest.mark.parametrize(
    ("module", "seconds"),
    [
        ("tests/unit/spec/test_a.py", ["7", "2", "half an hour", "3"]),
        ("tests/system/test_demo.py", ["1", "7", "half an hour", "3"]),
        ("tests/cluster/test_a.py", ["1", "2", "half an hour", "3"]),
        ("fuzz/manifests/test_a.py", ["1", "2", "half an hour", "7"]),
        ("tests/system/other/test_a.py", ["1", "2", "half an hour", "3"]),
    ],
)
def test_a_folder_that_ran_gets_its_seconds(module: str, seconds: list[str]) -> None:
    page = with_seconds(TABLE, [phase(module, 3.0), phase(module, 4.2, "test_b")])
    assert [row.split("|")[4].strip() for row in rows(page)] == seconds
    assert with_seconds(TABLE, []) == TABLE


def test_the_longest_comes_first_with_the_time_of_its_processor() -> None:
    phases = [phase("tests/a.py", 1.0), phase("tests/b.py", 4.0), phase("tests/a.py", 1.0)]
    titles = {row.test: row.test.partition("::")[0] for row in phases}
    assert [line.split() for line in longest(phases, titles)] == [
        ["4.0", "2.0", "tests/b.py"],
        ["2.0", "1.0", "tests/a.py"],
    ]
