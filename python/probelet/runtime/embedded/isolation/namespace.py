"""Network namespaces, by descriptor."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from probelet.base import open_files

CLONE_NEWNET = 0x40000000
"""From linux/sched.h."""

OWN_NAMESPACE = "/proc/thread-self/ns/net"

_LIBC = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """A network namespace. It exists until ``close`` and the end of every process in it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @property
    def path(self) -> str:
        """A path by which another process of this user can open it."""
        return f"/proc/{os.getpid()}/fd/{self._fd}"

    def enter(self) -> None:
        """Moves the calling thread into the namespace. Raises OSError."""
        _checked(_LIBC.setns(self._fd, CLONE_NEWNET))

    def close(self) -> None:
        """Lets go of the namespace."""
        os.close(self._fd)


def new_namespace() -> Namespace:
    """Makes a namespace whose only interface, lo, is down. Raises OSError."""
    own = _opened()
    try:
        _checked(_LIBC.unshare(CLONE_NEWNET))
        try:
            return Namespace(open_files.aside(_descriptor()))
        finally:
            own.enter()
    finally:
        own.close()


@contextmanager
def within(namespace: Namespace | None) -> Iterator[None]:
    """The calling thread, and so a program that it starts, is in a namespace; None: it stays where it is.

    A ``preexec_fn`` could do this in the child. But with one, Python starts the child with fork(2), not with vfork(2),
    and gRPC's handlers of fork(2) make it crash now and then.
    """
    if namespace is None:
        yield
        return
    own = _opened()
    try:
        namespace.enter()
        try:
            yield
        finally:
            own.enter()
    finally:
        own.close()


def _opened() -> Namespace:
    return Namespace(_descriptor())


def _descriptor() -> int:
    return os.open(OWN_NAMESPACE, os.O_RDONLY | os.O_CLOEXEC)


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
