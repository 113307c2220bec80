"""Which files a log has, and which rotation removes (kubelet pkg/kubelet/logs/container_log_manager.go, 1.36)."""

import time
from collections.abc import Iterable
from typing import Final, NamedTuple

COMPRESSED: Final = ".gz"
_UNFINISHED: Final = ".tmp"


class LogLimits(NamedTuple):
    """How large the logs of one instance of a container may grow: ``containerLogMaxSize``, ``containerLogMaxFiles``."""

    bytes_max: int | None = 10 * 1024 * 1024
    """Size of a log at which it is rotated; None: never."""
    files_max: int = 5
    """Files of an instance, the log and its rotated parts; at least 2."""


def rotated_name(log: str, unix_ns: int) -> str:
    """The name of a part that is rotated at that time, in UTC; its order among others is that of the times."""
    return f"{log}.{time.strftime('%Y%m%d-%H%M%S', time.gmtime(unix_ns // 1_000_000_000))}"


def rotated_parts(log: str, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The rotated parts of a log among the names of its directory, oldest first; and the remains of rotations that
    failed (``filterUnusedLogs``)."""
    found = sorted(name for name in names if name.startswith(f"{log}."))
    known = set(found)
    used = [name for name in found if not name.endswith(_UNFINISHED) and name + COMPRESSED not in known]
    return used, sorted(known.difference(used))


def excess(parts: list[str], limits: LogLimits) -> list[str]:
    """The oldest parts, which go before one more part is rotated (``removeExcessLogs``)."""
    kept = max(limits.files_max - 2, 0)
    return parts[: len(parts) - kept] if len(parts) > kept else []


def files_of(log: str, names: Iterable[str]) -> list[str]:
    """Everything that a log leaves in its directory (``containerLogManager.Clean``)."""
    return [name for name in names if name == log or name.startswith(f"{log}.")]
