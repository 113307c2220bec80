"""The namespaces of one cluster as its tests use them: commands, programs and connections inside."""

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.patience import PATIENCE_SECONDS

CLONE_NEWNET = 0x40000000
"""linux/sched.h"""

PROGRAMS = ("ip", "nsenter", "setpriv", "unshare")
"""Programs of iproute2 and util-linux."""


class Space:
    """Namespaces between ``start`` and ``stop``. They go when this process ends, however it ends."""

    def __init__(self) -> None:
        self._keeper: subprocess.Popen[str] | None = None
        self.folder = Path()
        """What the cluster keeps on disk. ``folder / "run"`` is /run inside."""
        self.first = 0
        """The first process inside, as this process sees it."""

    def start(self) -> None:
        """Raises RuntimeError where a namespace cannot be made."""
        command = [sys.executable, "-m", "tests.cluster.machine.keeper"]
        pipe = subprocess.PIPE
        self._keeper = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline()
        if not line:
            raise RuntimeError(f"the keeper of the namespaces ended with {self._keeper.wait()}")
        made = json.loads(line)
        self.folder, self.first = Path(made["folder"]), made["pid"]

    def stop(self) -> None:
        """End everything inside, and put back what it changed of the machine."""
        if self._keeper is not None:
            self._keeper.communicate(timeout=PATIENCE_SECONDS)

    @property
    def cgroup(self) -> str:
        """The name of the cgroup that belongs to this cluster, in each hierarchy."""
        return self.folder.name

    @property
    def inside(self) -> list[str]:
        """The prefix of a command that runs inside. The command itself is the only child of that process."""
        return ["nsenter", f"--target={self.first}", "--pid", "--mount", "--net", "--"]

    @contextmanager
    def network(self) -> Iterator[None]:
        """This thread makes its sockets in the network of the cluster; a socket stays where it was made."""
        with Path(f"/proc/{self.first}/ns/net").open() as theirs, Path("/proc/thread-self/ns/net").open() as ours:
            _enter(theirs.fileno())
            try:
                yield
            finally:
                _enter(ours.fileno())

    def connect(self, host: str, port: int, timeout: float | None) -> socket.socket:
        """A TCP connection inside the cluster's network. Raises OSError."""
        with self.network():
            return socket.create_connection((host, port), timeout)


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")
