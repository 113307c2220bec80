"""The messages between probelet and the helper (rust/enter/src/protocol), one per packet, little-endian."""

import struct
from dataclasses import dataclass
from typing import Final

from probelet.execs.direct.container import Bounds, texts
from probelet.execs.direct.fallback import REFUSALS, STEPS, Reason
from probelet.execs.direct.limits import LIMITS

REQUEST_BYTES_MAX: Final = 128 * 1024
"""Below the helper's buffer and below what the kernel takes as one packet by default."""

VERSION: Final = 1
"""The helper's protocol (rust/enter/src/protocol/answer.rs)."""

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


Answer = Hello | Unable | Pong | Ended | TimedOut | Stuck | Refused


def ping(number: int) -> bytes:
    """Asks whether the helper turns."""
    return struct.pack("<BQ", _PING, number)


def run(id: int, timeout_seconds: int, container: bytes, argv: list[str]) -> bytes:
    """Asks for a command. Raises FallbackError for words that no system call takes."""
    head = struct.pack("<BQI", _RUN, id, min(timeout_seconds, _SECONDS_MAX) * 1000)
    return head + container + texts(argv)


_SECONDS_MAX: Final = 4_000_000
"""What fits into the message, 46 days: the API allows more."""


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
    refusal, step, errno = struct.unpack("<BBi", rest[8:])
    return Refused(number, REFUSALS[refusal], _detail(step, errno))


def _detail(step: int, errno: int) -> str:
    name = STEPS[step] or "the container"
    return f"{name}: error {errno}" if errno else name
