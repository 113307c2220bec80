"""``make coverage``: measures both languages and writes docs/dev/coverage.md."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tools.coverage import python, rust
from tools.coverage.table import markdown

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/dev/coverage.md"

TEXT = """\
# Coverage

Lines that the tests run. `make coverage` wrote this page on {date} at commit {commit}. End-to-end tests do not count
here, so what only real processes reach is shown as not run. A line that a test runs is not yet a line that a test
checks: the [mutation check](mutation.md) asks that.

## Rust

By `cargo test` of every crate except `probelet-bindings` and `probelet-benches`; the folders are in `rust/`. The Python
tests reach more through the extension; the table does not count that.

{rust}
## Python

By `make unit`, in `python/probelet/`; what protoc generated is not counted.

{python}"""


def main() -> int:
    work = ROOT / "build/coverage"
    work.mkdir(parents=True, exist_ok=True)
    try:
        of_rust = markdown(rust.measure(ROOT, work))
    except rust.NoTools as missing:
        print(f"Rust: skipped, {missing}; docs/dev/coverage.md stays as it is")
        print(markdown(python.measure(ROOT, work)))
        return 0
    of_python = markdown(python.measure(ROOT, work))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    today = datetime.now(UTC).date()
    PAGE.write_text(TEXT.format(date=today, commit=commit.stdout.strip(), rust=of_rust, python=of_python))
    print(f"{PAGE.relative_to(ROOT)} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
