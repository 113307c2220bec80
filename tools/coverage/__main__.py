"""``make coverage``: measures both languages and writes docs/dev/coverage.md."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tools.coverage import python, rust
from tools.coverage.table import Lines, markdown

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/dev/coverage.md"

TEXT = """\
# Coverage

Lines that the tests run; `make coverage` writes this page. End-to-end tests do not count here, so what only real
processes reach is shown as not run. A line that a test runs is not yet a line that a test checks: the
[mutation check](mutation.md) asks that.

"""

RUST = """\
## Rust

Measured on {date} at commit {commit}, by the tests of every crate except `probelet-bindings` and `probelet-benches`,
with `cargo tarpaulin`; the folders are in `rust/`. Lines of tests are not counted. The Python tests reach more through
the extension; the table does not count that.

{table}
"""

PYTHON = """\
## Python

Measured on {date} at commit {commit}, by `make unit`, in `python/probelet/`; what protoc generated is not counted.

{table}"""


def section(text: str, folders: dict[str, Lines]) -> str:
    """The part of one language, with the day and the commit of its figures."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return text.format(date=datetime.now(UTC).date(), commit=commit.stdout.strip(), table=markdown(folders))


def kept(page: str) -> str:
    """The part about Rust that the page has, for a machine that cannot measure Rust."""
    return page[page.index("## Rust") : page.index("## Python")]


def main() -> int:
    work = ROOT / "build/coverage"
    work.mkdir(parents=True, exist_ok=True)
    try:
        of_rust = section(RUST, rust.measure(ROOT, work))
    except rust.NoTools as missing:
        print(f"Rust: skipped, {missing}; its part of docs/dev/coverage.md stays as it is")
        of_rust = kept(PAGE.read_text())
    PAGE.write_text(TEXT + of_rust + section(PYTHON, python.measure(ROOT, work)))
    print(f"{PAGE.relative_to(ROOT)} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
