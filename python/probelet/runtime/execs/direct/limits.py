"""Names and numbers of limits (asm-generic/resource.h, the same on x86 and arm)."""

from collections.abc import Iterator, Sequence
from typing import Final

from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.specification import Rlimit

_NAMES: Final = "CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS LOCKS SIGPENDING MSGQUEUE NICE RTPRIO RTTIME"
LIMITS: Final = tuple(f"RLIMIT_{name}" for name in _NAMES.split())


def numbered_limits(limits: Sequence[Rlimit]) -> Iterator[tuple[int, int, int]]:
    """Resource, soft and hard limit of each. Raises FallbackError for a name that only the runtime may know."""
    for limit in limits:
        if limit.type not in LIMITS:
            raise FallbackError(Reason.SPECIFICATION, f"process.rlimits: {limit.type!r} is not understood")
        if not 0 <= limit.soft <= limit.hard < 2**64:
            raise FallbackError(Reason.SPECIFICATION, f"process.rlimits: {limit.type} {limit.soft}:{limit.hard}")
        yield LIMITS.index(limit.type), limit.soft, limit.hard
