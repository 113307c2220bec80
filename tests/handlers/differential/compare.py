"""Our answer against Go's: result, error, text and request bytes."""

import enum
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probelet.replay.handlers.compare import CAUSES, TIMEOUTS

from tests.handlers.differential.probers import Told
from tests.handlers.differential.server import HANDSHAKE

# Causes of Go's classes; that of the recordings has no unreachable address.
OUR_CAUSES = {**CAUSES, "unreachable": frozenset({"unreachable"})}
# Texts of these come from another library, and differ.
FREE_WORDING = frozenset({"tls", "http2"})
# Ours are cut (docs/kubelet-parity.md), which shows least at a place where every character has one byte.
TEXT_BYTES_MAX = 10_240
CLIENT_PORT = re.compile(rb":\d+->")


class Kind(enum.Enum):
    """What differs."""

    VERDICT = "verdict"
    CAUSE = "cause"
    TEXT = "text"
    REQUESTS = "requests"


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same."""

    kind: Kind
    ours: object
    theirs: object

    def __str__(self) -> str:
        return f"{self.kind.value}: ours {self.ours!r}, Go's {self.theirs!r}"

    @property
    def shape(self) -> str:
        """The same for differences that are most likely one: what is quoted or counted in them does not matter."""
        return "" if self.kind is Kind.REQUESTS else re.sub(r"\\?\".*\\?\"|\d+", "*", str(self))


def differences(ours: Told, theirs: Told, sent: Sequence[bytes], expected: Sequence[bytes]) -> Iterator[Difference]:
    """Everything that differs between the answers, and between what the server received."""
    mine, go = (ours.result, ours.error is not None), (theirs.result, theirs.error is not None)
    if mine != go:
        yield Difference(Kind.VERDICT, ours, theirs)
    elif (said := _text(ours)) != (wanted := _text(theirs)) and theirs.kind not in FREE_WORDING:
        yield Difference(Kind.TEXT, said, wanted)
    causes = frozenset({"body", "request"}) if theirs.error is not None else OUR_CAUSES[theirs.kind]
    if mine == go and ours.kind not in causes:
        yield Difference(Kind.CAUSE, ours.kind, theirs.kind)
    yield from _requests(sent, expected)


def _requests(sent: Sequence[bytes], expected: Sequence[bytes]) -> Iterator[Difference]:
    """The first request that is not the same. Go dials before it finds that a request cannot be written, so a
    connection on which nothing came is as good as none."""
    for mine, go in itertools.zip_longest(sent, expected, fillvalue=b""):
        # Nobody sends the same handshake twice.
        if mine != go and not (mine.startswith(HANDSHAKE) and go.startswith(HANDSHAKE)):
            yield Difference(Kind.REQUESTS, mine, go)
            return


def _text(told: Told) -> tuple[bytes, bytes]:
    """The texts, without what no two runs have in common."""
    output, error = (CLIENT_PORT.sub(b":{CLIENT}->", text or b"") for text in (told.output, told.error))
    if told.result == "failure":
        output = output[:TEXT_BYTES_MAX]
        output = TIMEOUTS.sub("timeout", output.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    return output, error
