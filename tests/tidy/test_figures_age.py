"""Figures are of the code that they are beside. Only `make test-release` on a desk refuses a page: figures are measured
on a quiet machine before a release, and not with each change. `make lint` reports, and so does `.ci/run`."""

import os
from pathlib import Path

import pytest

from benches.report.age import COMMITS_MAX, PAGES, Page, has_history, too_old
from tests.support.paths import ROOT

PAGE = Page("page.md", "make bench", ("rust/core",))


@pytest.mark.slow
@pytest.mark.skipif(not has_history(), reason="no history of the repository")
@pytest.mark.skipif(os.environ.get("PROBELET_FIGURES") == "report", reason="this run only reports the age of figures")
def test_no_page_of_figures_is_too_old() -> None:
    assert list(too_old()) == []


@pytest.mark.parametrize(
    ("text", "behind", "lines"),
    [
        ("commit 1234567a", COMMITS_MAX, []),
        (
            "commit 1234567a",
            COMMITS_MAX + 1,
            ["page.md: commit 1234567a is 31 commits behind in rust/core; on a quiet machine: make bench"],
        ),
        (
            "commit 1234567a",
            None,
            ["page.md: commit 1234567a is no ancestor of this one; on a quiet machine: make bench"],
        ),
        ("no word of it", 0, ["page.md: names no commit; make bench"]),
    ],
)
def test_a_page_is_judged_by_its_commit(tmp_path: Path, text: str, behind: int | None, lines: list[str]) -> None:
    (tmp_path / "page.md").write_text(text)

    def run(verb: str, *arguments: str) -> str | None:
        if verb == "merge-base":
            return None if behind is None else ""
        assert arguments[-1] == "rust/core"
        return str(behind)

    assert list(too_old([PAGE], tmp_path, run)) == lines


def test_every_page_measures_code_that_is_there_by_a_target_that_is_there() -> None:
    targets = (ROOT / "Makefile").read_text()
    for page in PAGES:
        assert (ROOT / page.path).is_file()
        assert all((ROOT / path).is_dir() for path in page.code), page.code
        commands = [command.removeprefix("make ") for command in page.again.split(" && ")]
        assert all(f"\n{command}:" in targets for command in commands), commands
