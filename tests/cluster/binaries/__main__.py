"""Builds the programs of Kubernetes and helm: ``python -m tests.cluster.binaries`` prints the folder of the first."""

import sys

from tests.cluster.binaries import build, helm


def main() -> int:
    if why := build.what_is_missing():
        sys.stderr.write(f"the programs of Kubernetes cannot be built: {why}\n")
        return 1
    helm.build()
    sys.stdout.write(f"{build.build()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
