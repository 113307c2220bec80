"""``python -m tests.cluster`` builds the programs of Kubernetes and prints their folder.

Where no cluster can run it says why in one line, and ends with 1.
"""

import sys

from tests.cluster.binaries.build import build
from tests.cluster.cluster import what_is_missing


def main() -> int:
    if why := what_is_missing():
        sys.stderr.write(f"no cluster can run here, so its tests are skipped: {why}\n")
        return 1
    sys.stdout.write(f"{build()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
