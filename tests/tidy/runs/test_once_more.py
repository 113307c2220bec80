"""A failed test runs once more alone (``tests.support.once_more``): what passes, what fails, and what is printed."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.once_more import PAGE, TESTS_FAILED, known, line_of, run
from tests.support.paths import ROOT
from tests.support.report import Phase

EMPTY = PAGE.read_text().partition("|---|---|---|")[0] + "|---|---|---|\n"


class Pytest:
    """Stands in for pytest: the first call is the run, whose failures it reports; every other is a test alone."""

    def __init__(self, report: Path, *failures: str, code: int = TESTS_FAILED, alone: Sequence[str] = ()) -> None:
        self.calls: list[Sequence[str]] = []
        self._report, self._failures, self._code, self._alone = report, failures, code, alone

    def __call__(self, arguments: Sequence[str]) -> int:
        self.calls.append(arguments)
        if len(self.calls) > 1:
            return TESTS_FAILED if arguments[-1] in self._alone else 0
        phases = [Phase("a.py::test_good", "call", "passed", 1.0, 0.1, "gw0")]
        phases += [
            Phase(test, when, "failed", 1.0, 0.1, "gw1") for test in self._failures for when in ("call", "teardown")
        ]
        self._report.write_text("".join(json.dumps(phase._asdict()) + "\n" for phase in phases))
        return self._code


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.jsonl"


def test_a_run_that_passes_is_one_run(report: Path) -> None:
    fake = Pytest(report, code=0)
    assert run(["-n", "6"], report, EMPTY, fake) == (0, "")
    assert fake.calls == [["-n", "6"]]


@pytest.mark.parametrize("count", [1, 3])
def test_what_passes_alone_is_flaky_and_the_run_is_green(report: Path, count: int) -> None:
    tests = [f"a.py::test_{number}[x-1]" for number in range(count)]
    fake = Pytest(report, *tests)
    code, lines = run([], report, EMPTY, fake)
    assert code == 0
    assert [call[-1] for call in fake.calls[1:]] == tests
    assert [line for line in lines.splitlines() if line.startswith("FLAKY ")] == [f"FLAKY {test}" for test in tests]
    assert known(EMPTY + "".join(f"{line_of(test)}\n" for test in tests)).keys() == set(tests)


def test_what_fails_alone_fails_the_run(report: Path) -> None:
    fake = Pytest(report, "a.py::test_1", "a.py::test_2", alone=["a.py::test_2"])
    assert run([], report, EMPTY, fake) == (1, "failed alone, too")


def test_four_failures_are_no_accident(report: Path) -> None:
    fake = Pytest(report, *(f"a.py::test_{number}" for number in range(4)))
    code, why = run([], report, EMPTY, fake)
    assert (code, why, len(fake.calls)) == (1, "4 tests failed; up to 3 run once more", 1)


def test_a_second_appearance_fails_the_run(report: Path) -> None:
    fake = Pytest(report, "a.py::test_1", "a.py::test_2")
    code, why = run([], report, f"{EMPTY}| `a.py::test_2` | a clock | an event |\n", fake)
    assert (code, len(fake.calls)) == (1, 1)
    assert why.splitlines()[1:] == ["| `a.py::test_2` | a clock | an event |"]


@pytest.mark.parametrize("code", [2, 3, 4, 5, -15])
def test_a_run_that_broke_off_fails(report: Path, code: int) -> None:
    fake = Pytest(report, "a.py::test_1", code=code)
    assert run([], report, EMPTY, fake) == (code, "")
    assert len(fake.calls) == 1


def test_a_failure_without_a_test_fails(report: Path) -> None:
    code, why = run([], report, EMPTY, Pytest(report))
    assert (code, why) == (1, "pytest failed without a test that failed")


def test_every_line_names_a_test_and_has_a_cause() -> None:
    for test, line in known(PAGE.read_text()).items():
        assert (ROOT / test.partition("::")[0]).is_file(), line
        assert all(cell.strip() for cell in line.strip("|").split("|")), line
