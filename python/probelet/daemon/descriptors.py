"""The file descriptors of a service: how many it may have, and how they are divided.

Probes come first: they may use three quarters (``rust/engine/src/net/descriptors.rs``). The rest, which no probe takes,
is for what others open here, and for the service's own files. Each part is capped, so that none takes another's.
"""

from typing import Final

import msgspec

from probelet.base import open_files
from probelet.errors import DaemonError
from probelet.server.limit import CONTROL_CONNECTIONS_MAX, PAGES_CONNECTIONS_MAX
from probelet.service.limit import CONNECTIONS_MAX

LIMIT_MIN: Final = 128
"""A service without pods has about 40 descriptors open, and the quarter without probes has to hold most of them."""

RESERVED_SHARE: Final = 4
RESERVED_MAX: Final = 1024


class Descriptors(msgspec.Struct, frozen=True):
    """How many connections each server takes. A caller's connection needs three descriptors, any other one."""

    pages: int = PAGES_CONNECTIONS_MAX
    control: int = CONTROL_CONNECTIONS_MAX
    callers: int = CONNECTIONS_MAX


def divided(limit: int) -> Descriptors:
    """The connections of a process that may have ``limit`` descriptors."""
    reserved = min(RESERVED_MAX, limit // RESERVED_SHARE)
    return Descriptors(
        pages=min(PAGES_CONNECTIONS_MAX, reserved // 4),
        control=min(CONTROL_CONNECTIONS_MAX, reserved // 8),
        callers=min(CONNECTIONS_MAX, reserved // 16),
    )


def prepare() -> Descriptors:
    """Raises the limit of open files, and divides it. Raises DaemonError if it is too small to work with."""
    limit = open_files.raise_limit()
    if limit < LIMIT_MIN:
        raise DaemonError(
            f"at most {limit} files may be open, and a service needs {LIMIT_MIN}: raise the limit (ulimit -n, or "
            "LimitNOFILE of a systemd unit)"
        )
    return divided(limit)
