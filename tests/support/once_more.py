"""Runs pytest, and a test that failed once more by itself: python -m tests.support.once_more ARGUMENTS OF PYTEST.

One test in thousands that fails on a busy machine and passes alone must not stop a change, and must not hide either:
it is printed as FLAKY, with the line that tests/flaky.md gets. With that line its next failure fails the run. REPORT
names the report of the run (``tests.support.report``), FLAKY a file for the printed lines.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.report import VARIABLE, Phase, read

PAGE = ROOT / "tests" / "flaky.md"
FAILURES_MAX = 3
"""More failures than this have a common cause, and no run is tried again for it."""
SECONDS_MAX = 600
"""The time of a test that runs alone, with everything that it sets up."""
TESTS_FAILED = 1
"""pytest's exit code if tests failed; the others say that the run itself broke off."""

Pytest = Callable[[Sequence[str]], int]


def failed(phases: Iterable[Phase]) -> list[str]:
    """The tests of which a phase failed."""
    return list(dict.fromkeys(phase.test for phase in phases if phase.outcome == "failed"))


def known(page: str) -> dict[str, str]:
    """The lines of tests/flaky.md by their test."""
    return {found[1]: found[0] for found in re.finditer(r"^\| `(.+?)` \|.*$", page, re.MULTILINE)}


def refusal(tests: Sequence[str], page: str) -> str:
    """The reason why these failures count at once; empty if the tests may run once more."""
    if not tests:
        return "pytest failed without a test that failed"
    if len(tests) > FAILURES_MAX:
        return f"{len(tests)} tests failed; up to {FAILURES_MAX} run once more"
    again = [line for test, line in known(page).items() if test in tests]
    return "\n".join(["a second failure of a test in tests/flaky.md:", *again]) if again else ""


def line_of(test: str) -> str:
    """What tests/flaky.md gets; its author writes the cause."""
    return f"| `{test}` | cause | mend |"


def run(arguments: Sequence[str], report: Path, page: str, pytest: Pytest) -> tuple[int, str]:
    """The exit code of the run, and the lines about it."""
    code = pytest(arguments)
    if code != TESTS_FAILED:
        return code, ""
    tests = failed(read(report.read_text().splitlines()))
    if why := refusal(tests, page):
        return code, why
    # `-m ""` takes back the selection of pyproject.toml.
    if any(pytest(["-q", "-m", "", "--timeout", str(SECONDS_MAX), test]) for test in tests):
        return code, "failed alone, too"
    return 0, "\n".join(f"FLAKY {test}\n  for tests/flaky.md: {line_of(test)}" for test in tests)


def main() -> int:
    report = Path(os.environ[VARIABLE])

    def pytest(arguments: Sequence[str]) -> int:
        code = subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT).returncode
        # The report stays that of the whole run.
        os.environ.pop(VARIABLE, None)
        return code

    code, lines = run(sys.argv[1:], report, PAGE.read_text(), pytest)
    if lines:
        sys.stdout.write(f"{lines}\n")
    if lines and code == 0 and (path := os.environ.get("FLAKY")):
        with Path(path).open("a") as file:
            file.write(f"{lines}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
