"""Reads a regular file, of a bounded size, without waiting for a pipe, a device or another process."""

import os
import stat
from pathlib import Path
from typing import Final

from probelet.errors import ProbeletError

PIECE_BYTES: Final = 1024 * 1024
"""How much one read asks for."""


class NotRegularError(ProbeletError, OSError):
    """The file at a path is not a regular file."""


def read_regular(path: Path, bytes_max: int) -> bytes:
    """The bytes of a file; more than ``bytes_max`` if it is longer. A link to a regular file is followed.

    Raises OSError, also where reading would have to wait, as for the kernel's log in ``/proc``.
    """
    # Opening a device may have an effect, and opening a pipe waits.
    _require_regular(path.stat())
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        # Another file may have taken its place.
        _require_regular(os.fstat(fd))
        data = bytearray()
        while len(data) <= bytes_max and (piece := os.read(fd, PIECE_BYTES)):
            data += piece
    finally:
        os.close(fd)
    return bytes(data)


def _require_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotRegularError(0, "not a regular file")
