"""Checks a unix socket's path: short enough, and free or taken by a socket."""

import os
import stat
from pathlib import Path

from probelet.server.error import ServerError

# `sun_path` of a unix socket address holds 108 bytes and ends in a zero (man 7 unix).
UNIX_PATH_BYTES_MAX = 107


def check_unix_path(path: Path, named: str) -> None:
    """Raises ServerError, one line that begins with ``named``, if no socket can be bound at ``path``.

    ``bind`` cannot tell these cases apart: for a file in the way it also reports that the address is in use.
    """
    if len(os.fsencode(path)) > UNIX_PATH_BYTES_MAX:
        raise ServerError(f"{named}: too long, the socket's path may have {UNIX_PATH_BYTES_MAX} bytes")
    if os.path.lexists(path) and not _is_socket(path):
        raise ServerError(
            f"{named}: exists and is not a socket, so it stays as it is; choose a path that is free or a socket's"
        )


def _is_socket(path: Path) -> bool:
    """True if ``path`` is a socket or a link to one; a broken link is no socket."""
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False
