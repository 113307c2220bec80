"""The process that owns the namespaces of a cluster, and cleans up when the process that asked for them has gone.

``python -m tests.cluster.machine.keeper`` makes a folder and the namespaces, writes both to its output in one line of
JSON, and waits for the end of its input, which comes even if a test process is killed. The kernel then ends every
process of the namespaces with their first one, and takes mounts and network along; cgroups, kernel parameters and the
folder are put back here. If a keeper is killed itself, the next keeper puts back what is left.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tests.cluster.machine.host import Host
from tests.support import cgroup, sysctls

PREFIX = "probelet-cluster-"
"""Folders of clusters begin with it, in the folder for temporary files."""

PRIVATE = ("run", "var/lib", "var/log")
"""Folders of the machine that a cluster has for itself, so that its paths are those of a real node."""

NODE_IP = Host(0).address
NETWORK = (
    "link set lo up",
    "link add d0 type veth peer name d1",
    f"addr add {NODE_IP}/24 dev d0",
    "link set d0 up",
    "link set d1 up",
    "route add default via 10.99.0.254 dev d0",
)
"""A kubelet wants an address and a default route. Nothing answers behind that route."""

END_SECONDS = 20.0


def main() -> int:
    _put_back_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    with _locked(folder):
        (folder / "sysctls.json").write_text(json.dumps(sysctls.values()))
        cgroup.make(folder.name)
        space = _make_space(folder)
        try:
            sys.stdout.write(json.dumps({"folder": str(folder), "pid": _first_process(space, folder)}) + "\n")
            sys.stdout.flush()
            sys.stdin.read()
        finally:
            space.kill()
            space.wait()
            _put_back(folder)
    return 0


def _make_space(folder: Path) -> subprocess.Popen[bytes]:
    for name in PRIVATE:
        (folder / name).mkdir(parents=True)
    lines = ["set -e", *mounts(folder), *(f"ip {words}" for words in NETWORK)]
    # The shell reaps the processes that lose their parents.
    lines += [f"touch {folder}/ready", "sleep infinity & wait"]
    command = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command += ["--mount", "--propagation", "private", "--net", "--", "sh", "-c", "\n".join(lines)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def mounts(folder: Path) -> list[str]:
    """Commands that put a node's own folders in place of the machine's, in a namespace for mounts."""
    return ["mount --make-rshared /", *(f"mount --bind {folder}/{name} /{name}" for name in PRIVATE)]


def _first_process(space: subprocess.Popen[bytes], folder: Path) -> int:
    """The first process of the namespaces, when it has set them up. Raises RuntimeError."""
    deadline = time.monotonic() + END_SECONDS
    while not (folder / "ready").exists():
        if space.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("no namespaces for processes, mounts and network can be made here")
        time.sleep(0.01)
    return int(Path(f"/proc/{space.pid}/task/{space.pid}/children").read_text())


def _put_back(folder: Path) -> None:
    """Undo what outlasts the namespaces. A file that is busy stays for the next keeper."""
    deadline = time.monotonic() + END_SECONDS
    while not cgroup.remove(folder.name) and time.monotonic() < deadline:
        time.sleep(0.05)
    with suppress(OSError, ValueError):
        sysctls.put_back(json.loads((folder / "sysctls.json").read_text()))
    shutil.rmtree(folder, ignore_errors=True)


def _put_back_leftovers() -> None:
    """Put back what keepers left that were killed: nobody has the lock of their folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _put_back(folder)


@contextmanager
def _locked(folder: Path) -> Iterator[IO[str]]:
    """The lock has its name only once it is held, so that another keeper never finds it free."""
    with (folder / "lock.new").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "lock.new").rename(folder / "lock")
        yield lock


if __name__ == "__main__":
    os.setsid()
    sys.exit(main())
