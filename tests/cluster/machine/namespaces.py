"""Namespaces as the tests use them: commands, programs and connections inside."""

import ctypes
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000
"""linux/sched.h"""


class Namespaces:
    """Namespaces for processes, mounts and network, and the folder of what runs in them."""

    def __init__(self) -> None:
        self.folder = Path()
        """What is kept on disk. ``folder / "run"`` is /run inside."""
        self.first = 0
        """The first process inside, as this process sees it."""

    @property
    def cgroup(self) -> str:
        """The name of their own cgroup, in each hierarchy."""
        raise NotImplementedError

    @property
    def inside(self) -> list[str]:
        """The prefix of a command that runs inside. The command itself is the only child of that process."""
        raise NotImplementedError

    @contextmanager
    def network(self) -> Iterator[None]:
        """This thread makes its sockets in the network inside; a socket stays where it was made."""
        with Path(f"/proc/{self.first}/ns/net").open() as theirs, Path("/proc/thread-self/ns/net").open() as ours:
            _enter(theirs.fileno())
            try:
                yield
            finally:
                _enter(ours.fileno())

    def connect(self, host: str, port: int, timeout: float | None) -> socket.socket:
        """A TCP connection in the network inside. Raises OSError."""
        with self.network():
            return socket.create_connection((host, port), timeout)


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")
