"""How old the figures of the benchmark pages are: the commit of each page, and what has changed since in the code that
it measures.

``python -m benches.report.age`` says it and exits with 0, because figures are measured on a quiet machine before a
release and not with each change. ``make test-release`` refuses a page that is too old
(`tests/tidy/test_figures_age.py`).
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
COMMITS_MAX: Final = 30
"""Commits to the measured code after which a page is too old."""

_COMMIT: Final = re.compile(r"\bcommit ([0-9a-f]{7,40})\b")

Git = Callable[..., str | None]
"""Runs git with some arguments; its output, or None if it fails."""


@dataclass(frozen=True)
class Page:
    """A page of figures. README.md repeats those of RESULTS.md, and a test compares them."""

    path: str
    again: str
    """The command that measures the page again."""
    code: tuple[str, ...]
    """What it measures."""


PAGES: Final = (
    Page(
        "benches/RESULTS.md",
        "make bench && make bench-micro",
        ("rust/core", "rust/engine", "rust/golang", "rust/bindings"),
    ),
    Page(
        "benches/EXEC.md",
        "make bench-exec",
        ("rust/engine", "rust/enter", "rust/enter-protocol", "python/probelet/runtime/execs"),
    ),
    Page(
        "benches/AGENT.md",
        "make bench-agent",
        ("rust/core", "rust/engine", "python/probelet/agent", "python/probelet/beside", "python/probelet/kube"),
    ),
    Page("benches/NETWORK.md", "make bench-network", ("rust/engine",)),
    Page("benches/PACE.md", "make bench-pace", ("rust/core", "rust/engine")),
)


def git(*arguments: str) -> str | None:
    """Runs git on this repository."""
    try:
        ended = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    except OSError:
        return None
    return ended.stdout.strip() if ended.returncode == 0 else None


def has_history(run: Git = git) -> bool:
    """Whether there is a history to judge by: a package of the sources and a shallow clone have none."""
    return run("rev-parse", "--is-shallow-repository") == "false"


def too_old(pages: Sequence[Page] = PAGES, root: Path = ROOT, run: Git = git) -> Iterator[str]:
    """One line for each page that does not measure the code of today, with the command that makes it again."""
    for page in pages:
        commits = list(dict.fromkeys(_COMMIT.findall((root / page.path).read_text())))
        if not commits:
            yield f"{page.path}: names no commit; {page.again}"
        for commit in commits:
            if (why := _why(commit, page, run)) is not None:
                yield f"{page.path}: commit {commit} {why}; on a quiet machine: {page.again}"
                break


def _why(commit: str, page: Page, run: Git) -> str | None:
    if run("merge-base", "--is-ancestor", commit, "HEAD") is None:
        return "is no ancestor of this one"
    since = int(run("rev-list", "--count", f"{commit}..HEAD", "--", *page.code) or 0)
    return f"is {since} commits behind in {', '.join(page.code)}" if since > COMMITS_MAX else None


def main() -> int:
    """Says which pages are too old."""
    if not has_history():
        print("no history to judge the figures by")
        return 0
    lines = list(too_old())
    for line in lines:
        print(line)
    if not lines:
        print(f"every page of figures is at most {COMMITS_MAX} commits behind the code that it measures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
