"""``make audit``: licences always, advisories if a database is there. Exit code 1 with one line for each problem."""

import os
import sys
from pathlib import Path

from tools.audit import advisories, licences
from tools.audit.packages import crates, distributions

ROOT = Path(__file__).parents[2]


def main() -> int:
    packages = [*crates(ROOT), *distributions(ROOT)]
    found = licences.problems(packages, licences.read())
    if database := os.environ.get("ADVISORY_DB"):
        found += advisories.problems(packages, Path(database))
    else:
        print("advisories: skipped, ADVISORY_DB names no database")
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"audit: {len(packages)} packages, no problem")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
