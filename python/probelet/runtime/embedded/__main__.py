"""``python -m probelet.runtime.embedded --socket PATH --root DIR [--owner-fd N] [--isolate namespace] [--users]``:
runs the embedded runtime alone."""

import argparse
import sys
from pathlib import Path

from probelet.base import open_files
from probelet.base.logs.rotation import LogLimits
from probelet.runtime.embedded import guard


def main() -> int:
    """Runs until the owner ends or SIGTERM arrives; returns the exit code (2: root or socket is unusable)."""
    parser = argparse.ArgumentParser(
        prog="probelet.runtime.embedded", description="A CRI v1 runtime of plain processes."
    )
    parser.add_argument("--socket", required=True, type=Path, help="socket for CRI v1: a file in the root")
    parser.add_argument("--root", required=True, type=Path, help="directory of this runtime alone, removed at its end")
    parser.add_argument("--owner-fd", type=int, help="socket to the owner; its end ends the runtime")
    parser.add_argument("--log-bytes-max", type=int, help="rotate a log of this size; default: never")
    parser.add_argument("--log-files-max", type=int, default=LogLimits().files_max, help="files of an instance's log")
    parser.add_argument(
        "--isolate", choices=("none", "namespace"), default="none", help="namespace: each pod has a network namespace"
    )
    parser.add_argument(
        "--users", action="store_true", help="a container runs as the user of its configuration; default: all as we do"
    )
    parser.add_argument("--open-files", type=int, help="soft limit of open files of containers; default: as inherited")
    arguments = parser.parse_args()
    if arguments.open_files is not None:
        open_files.lower(arguments.open_files)
    socket, root = arguments.socket.absolute(), arguments.root.absolute()
    limits = LogLimits(arguments.log_bytes_max, arguments.log_files_max)
    isolate = arguments.isolate == "namespace"
    return guard.run(socket, root, limits, arguments.owner_fd, isolate=isolate, has_users=arguments.users)


sys.exit(main())
