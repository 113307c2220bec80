"""What the hostile name server answers, by the first label of the name. Each answer is a list of datagrams."""

import os
import struct
from collections.abc import Callable
from typing import Final

Question = bytes
Answer = Callable[[Question], list[bytes]]

A, CNAME, INTERNET, CHAOS = 1, 5, 1, 3
LOOPBACK: Final = bytes((127, 0, 0, 1))
SELF: Final = b"\xc0\x0c"
"""A pointer to the name in the question."""
FLOOD: Final = 40
"""As many datagrams as a server of these tests can send beside its other work."""


def labels_of(question: Question) -> list[str]:
    """The labels of the name that is asked for."""
    at, labels = 12, []
    while question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode())
        at += 1 + question[at]
    return labels


def asked(question: Question) -> bytes:
    """The section of the question."""
    return question[12 : question.index(b"\0", 12) + 5]


def head(question: Question, flags: int = 0x8180, counts: tuple[int, int, int, int] = (1, 0, 0, 0)) -> bytes:
    return question[:2] + struct.pack(">5H", flags, *counts)


def record(owner: bytes = SELF, data: bytes = LOOPBACK, kind: int = A, length: int | None = None, of: int = 1) -> bytes:
    return owner + struct.pack(">HHIH", kind, of, 1, len(data) if length is None else length) + data


def answered(question: Question, *records: bytes, answers: int | None = None, flags: int = 0x8180) -> bytes:
    counts = (1, len(records) if answers is None else answers, 0, 0)
    return head(question, flags, counts) + asked(question) + b"".join(records)


def well(question: Question) -> list[bytes]:
    is_for_a = asked(question)[-3] == A
    return [answered(question, record()) if is_for_a else answered(question)]


def name(text: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def at(question: Question, offset: int = 0) -> bytes:
    """A pointer to a place behind the question."""
    return struct.pack(">H", 0xC000 | (12 + len(asked(question)) + offset))


def changed(question: Question, place: int) -> bytes:
    answer = bytearray(well(question)[0])
    answer[place] ^= 0xFF
    return bytes(answer)


def chained(question: Question) -> list[bytes]:
    pointers = b"".join(at(question, 2 * number) for number in range(1, 61))
    return [answered(question, pointers + record(b"\0"))]


def of_another_name(question: Question) -> list[bytes]:
    return [head(question, counts=(1, 1, 0, 0)) + name("evil.test") + asked(question)[-4:] + record()]


WRONG: Final[dict[str, Answer]] = {
    "circle": lambda q: [answered(q, record(at(q)))],
    "circles": lambda q: [answered(q, at(q, 2) + record(at(q)), answers=1)],
    "forward": lambda q: [answered(q, record(b"\xc0\xff"))],
    "past": lambda q: [answered(q, record(b"\xff\xff"))],
    "chain": chained,
    "long": lambda q: [answered(q, record((b"\x3f" + b"a" * 63) * 6 + b"\0"))],
    "question-is-a-pointer": lambda q: [head(q) + SELF + asked(q)[-4:]],
    "longer-than-said": lambda q: [answered(q, record(length=400))],
    "short-address": lambda q: [answered(q, record(data=b"\x7f\0"))],
    "alias-of-itself": lambda q: [answered(q, record(data=SELF, kind=CNAME))],
    "another-question": of_another_name,
    "another-number": lambda q: [changed(q, 0)],
    "two-questions": lambda q: [head(q, counts=(2, 1, 0, 0)) + asked(q) * 2 + record()],
    "no-question": lambda q: [head(q, counts=(0, 1, 0, 0)) + record()],
    "echo": lambda q: [q],
    "empty": lambda q: [b""],
    "cut": lambda q: [q[:7]],
    "noise": lambda q: [os.urandom(300) for _ in range(5)],
    "flood": lambda q: [os.urandom(300)] * FLOOD,
    "flood-of-forgeries": lambda q: [changed(q, 13)] * FLOOD,
    "silence": lambda q: [],
    "no-such-host": lambda q: [answered(q, flags=0x8183)],
    "failure": lambda q: [answered(q, flags=0x8182)],
    "refusal": lambda q: [answered(q, flags=0x8185)],
    "nothing": lambda q: [answered(q)],
}
"""No address follows from these."""

RIGHT: Final[dict[str, Answer]] = {
    "healthy": well,
    "counts-without-end": lambda q: [answered(q, record(), answers=65_535)],
    "hundreds": lambda q: [answered(q, *[record()] * 25)],
    "behind-rubbish": lambda q: [well(q)[0] + os.urandom(8_000)],
}
"""An address follows from these, as in Go."""
