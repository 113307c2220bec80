"""Damages bytes as a network, a broken server or an attacker might damage a response."""

from collections.abc import Callable, Sequence

from tests.handlers.differential.dice import Dice

TOKENS = [b"\r\n", b"\n", b"\r", b" ", b"\t", b"\x00", b"\x7f", b"\xff", b":", b";", b",", b'"', b"0", b"\r\n\r\n"]
TOKENS += [b"\r\n ", b"\xc3\xa9", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"Content-Length: 5\r\n"]
TOKENS += [b"0\r\n\r\n", b"Location: /x\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n"]
TOKENS += [b"Trailer: X\r\n", b"Upgrade: x\r\nConnection: upgrade\r\n"]
# Damage mostly hits the head, because a reader decides most things there.
HEAD_BYTES = 300


def place(dice: Dice, data: bytes) -> int:
    return dice.randrange(min(len(data), HEAD_BYTES) + 1) if dice.random() < 0.7 else dice.randrange(len(data) + 1)


def stretch(dice: Dice, data: bytes) -> tuple[int, int]:
    start = place(dice, data)
    return start, min(len(data), start + dice.pick([1, 1, 1, 2, 4, 10, 40]))


def delete(dice: Dice, data: bytes) -> bytes:
    start, end = stretch(dice, data)
    return data[:start] + data[end:]


def double(dice: Dice, data: bytes) -> bytes:
    start, end = stretch(dice, data)
    return data[:end] + data[start:]


def insert(dice: Dice, data: bytes) -> bytes:
    at = place(dice, data)
    return data[:at] + dice.pick(TOKENS) + data[at:]


def replace(dice: Dice, data: bytes) -> bytes:
    start, end = stretch(dice, data)
    return data[:start] + dice.pick(TOKENS) + data[end:]


def flip(dice: Dice, data: bytes) -> bytes:
    if not data:
        return data
    at = min(place(dice, data), len(data) - 1)
    return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]


def cut(dice: Dice, data: bytes) -> bytes:
    return data[: place(dice, data)]


def shuffle_lines(dice: Dice, data: bytes) -> bytes:
    lines = data.split(b"\n", 12)
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def double_line(dice: Dice, data: bytes) -> bytes:
    lines = data.split(b"\n", 12)
    at = dice.randrange(len(lines))
    return b"\n".join([*lines[:at], lines[at], *lines[at:]])


MUTATIONS: Sequence[Callable[[Dice, bytes], bytes]] = (
    delete,
    double,
    insert,
    insert,
    replace,
    flip,
    cut,
    shuffle_lines,
    double_line,
)


def mutated(dice: Dice, data: bytes, times: int) -> bytes:
    for _ in range(times):
        data = dice.pick(MUTATIONS)(dice, data)
    return data
