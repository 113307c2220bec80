"""The messages between probelet and the helper (rust/enter-protocol), one per packet, little-endian.

The engine writes and reads the same on a socket of its own."""

import struct
from dataclasses import dataclass
from typing import Final

from probelet.runtime.execs.direct.container import Bounds, texts
from probelet.runtime.execs.direct.fallback import REFUSALS, STEPS, FallbackError, Reason
from probelet.runtime.execs.direct.limits import LIMITS

REQUEST_BYTES_MAX: Final = 128 * 1024
"""Below the helper's buffer and below what the kernel takes as one packet by default."""

VERSION: Final = 2
"""The helper's protocol (rust/enter-protocol/src/lib.rs)."""

_RUN, _PING = 1, 2


@dataclass(frozen=True, slots=True)
class Hello:
    """The helper is ready."""

    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Unable:
    """The helper ends, because it cannot confine anything where it runs."""

    why: str


@dataclass(frozen=True, slots=True)
class Pong:
    """The helper turns."""

    number: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A command ended by itself or by a signal (128 and its number)."""

    id: int
    code: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A command was killed at its timeout."""

    id: int


@dataclass(frozen=True, slots=True)
class Stuck:
    """The timeout was over before the program had started."""

    id: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was not started."""

    id: int
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Over:
    """Every process of a command that was ``TimedOut`` or ``Stuck`` has ended."""

    id: int


Answer = Hello | Unable | Pong | Ended | TimedOut | Stuck | Refused | Over


def ping(number: int) -> bytes:
    """Asks whether the helper turns."""
    return struct.pack("<BQ", _PING, number)


def run(id: int, timeout_seconds: int, container: bytes, argv: list[str]) -> bytes:
    """Asks for a command. Raises FallbackError for words that no system call takes."""
    if not argv or not argv[0]:
        raise FallbackError(Reason.PROGRAM, "the command has no program")
    head = struct.pack("<BQI", _RUN, id, min(timeout_seconds, _SECONDS_MAX) * 1000)
    return head + container + texts(argv)


_SECONDS_MAX: Final = 4_000_000
"""The longest time that fits into the message, 46 days: the API allows more."""


def answer(message: bytes) -> Answer:
    """Reads an answer. Raises ValueError for one that is none; the helper is then replaced."""
    try:
        return _answer(message[0], message[1:])
    except (struct.error, KeyError, IndexError) as error:
        raise ValueError(f"the helper answered {message[:32]!r}: {error}") from None


def _answer(kind: int, rest: bytes) -> Answer:
    if kind == 1:
        if rest[0] != VERSION:
            return Unable(f"its protocol is version {rest[0]} and not {VERSION}: it is of another probelet")
        capabilities, *limits = struct.unpack(f"<{1 + len(LIMITS)}Q", rest[1:])
        return Hello(Bounds(capabilities, tuple(limits)))
    if kind == 2:
        return Unable(rest.decode(errors="replace"))
    (number,) = struct.unpack_from("<Q", rest)
    match kind:
        case 3:
            return Pong(number)
        case 4:
            code, length = struct.unpack_from("<iI", rest, 8)
            return Ended(number, code, rest[16 : 16 + length], rest[16 + length :])
        case 5:
            return TimedOut(number)
        case 6:
            return Stuck(number)
        case 8:
            return Over(number)
    return refused(number, struct.unpack("<BBi", rest[8:]))


def refused(number: int, refusal: tuple[int, int, int]) -> Refused:
    """The refusal in the helper's numbers: why, the step, the system's error number. Raises KeyError and IndexError for
    numbers that the helper does not have."""
    why, step, errno = refusal
    return Refused(number, REFUSALS[why], _detail(step, errno))


def _detail(step: int, errno: int) -> str:
    name = STEPS[step] or "the container"
    return f"{name}: error {errno}" if errno else name
