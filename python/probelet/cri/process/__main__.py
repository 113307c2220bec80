"""``python -m probelet.cri.process --socket PATH --root DIR [--owner-fd N]``: the embedded runtime by itself."""

import argparse
import sys
from pathlib import Path

from probelet.cri.process import guard


def main() -> int:
    """Run until the owner is gone, or SIGTERM; returns the exit code (2: the root or the socket is unusable)."""
    parser = argparse.ArgumentParser(prog="probelet.cri.process", description="A CRI v1 runtime of plain processes.")
    parser.add_argument("--socket", required=True, type=Path, help="where to serve CRI v1: a file in the root")
    parser.add_argument("--root", required=True, type=Path, help="directory of its own; gone when the runtime ends")
    parser.add_argument("--owner-fd", type=int, help="a socket whose other end only the owner holds; its end ends all")
    arguments = parser.parse_args()
    return guard.run(arguments.socket.absolute(), arguments.root.absolute(), arguments.owner_fd)


sys.exit(main())
