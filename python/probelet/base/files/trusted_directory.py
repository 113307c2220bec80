"""Opens a directory by a way that no other user can change: neither by a link, nor by a rename, nor later.

Each directory on the way, and each link, belongs to root or to this user. No other user can write in the directories,
unless the directory is sticky: then another user can neither rename nor replace what belongs to root or to this user.
"""

import errno
import grp
import os
import pwd
import stat
from collections import deque
from pathlib import Path
from typing import Final

from probelet.errors import ProbeletError

LINKS_MAX: Final = 40
"""Links on the way, as in the kernel (man 7 path_resolution)."""

_OPEN: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class UntrustedError(ProbeletError):
    """Another user could change the way to a directory. The message is one line and names the part of the way."""


def open_trusted(path: Path, *, make: bool = False) -> tuple[int, bool]:
    """Opens a directory whose way no other user can change; says whether this call made it (0700).

    With ``make``, missing directories on the way are made too. The descriptor serves for ``dir_fd`` and ``fstat``
    (O_PATH). The caller checks the directory itself. Raises UntrustedError, or OSError.
    """
    way = _Way()
    try:
        parts = deque(path.absolute().parts[1:])
        made = False
        while parts:
            _check(way.fd, way.name)
            made = way.enter(parts.popleft(), parts, make=make)
        if not stat.S_ISDIR(os.fstat(way.fd).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return os.dup(way.fd), made
    finally:
        os.close(way.fd)


class _Way:
    """The directory that the walk has reached; ``name`` is its path for messages."""

    def __init__(self) -> None:
        self.fd = os.open("/", _OPEN)
        self.name = Path("/")
        self._links = 0

    def enter(self, part: str, rest: deque[str], *, make: bool) -> bool:
        """Goes on to ``part``; for a link, puts its target before ``rest``. Returns whether this call made ``part``."""
        made = make and self._make(part, 0o755 if rest else 0o700)
        entered = os.open(part, _OPEN, dir_fd=self.fd)
        found = os.fstat(entered)
        if not stat.S_ISLNK(found.st_mode):
            self._go(entered, self.name / part)
            return made
        target = os.readlink("", dir_fd=entered)
        os.close(entered)
        self._links += 1
        if self._links > LINKS_MAX:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if found.st_uid not in _trusted():
            raise UntrustedError(f"{self.name / part} is a link of uid {found.st_uid}, which can change it")
        if target.startswith("/"):
            self._go(os.open("/", _OPEN), Path("/"))
        rest.extendleft(reversed([part for part in target.split("/") if part not in ("", ".")]))
        return False

    def _make(self, part: str, mode: int) -> bool:
        try:
            os.mkdir(part, mode, dir_fd=self.fd)
        except FileExistsError:
            return False
        return True

    def _go(self, fd: int, name: Path) -> None:
        os.close(self.fd)
        self.fd, self.name = fd, name


def _check(fd: int, name: Path) -> None:
    found = os.fstat(fd)
    if found.st_uid not in _trusted():
        raise UntrustedError(f"{name} belongs to uid {found.st_uid}, which could replace what is in it")
    if _others_can_write(found) and not found.st_mode & stat.S_ISVTX:
        mode = stat.S_IMODE(found.st_mode)
        raise UntrustedError(f"{name} is writable by other users (mode {mode:o}), who could replace what is in it")


def _others_can_write(found: os.stat_result) -> bool:
    """Whether a user other than the owner may write. A group with no other member counts as this user."""
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(gid: int) -> bool:
    """True for a private group: it has the name of this user, and no other member. Many systems give one to each user
    and make directories writable by it (umask 002)."""
    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _trusted() -> frozenset[int]:
    """Root, this user, and the owner of ``/``: some user namespaces show root under another number."""
    return frozenset({0, os.getuid(), Path("/").stat().st_uid})
