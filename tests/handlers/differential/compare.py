"""Compares our prober with Go's: result, error, text and request bytes."""

import enum
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probelet_conformance.handlers.compare import CAUSES, TIMEOUTS

from tests.handlers.differential.probers import ProbeReport
from tests.handlers.differential.server import HANDSHAKE

# Our causes for each class of Go's errors. The recordings have no unreachable address, so their table lacks it.
OUR_CAUSES = {**CAUSES, "unreachable": frozenset({"unreachable"})}
# Classes whose texts differ, because another library writes them.
FREE_WORDING = frozenset({"tls", "http2"})
# We cut texts at this length (docs/kubelet-parity.md), so the comparison cuts Go's as well.
TEXT_BYTES_MAX = 10_240
CLIENT_PORT = re.compile(rb":\d+->")


class Kind(enum.Enum):
    """In which respect two answers differ."""

    VERDICT = "verdict"
    CAUSE = "cause"
    TEXT = "text"
    REQUESTS = "requests"


@dataclass(frozen=True)
class Difference:
    """One difference between our answer and Go's."""

    kind: Kind
    ours: object
    theirs: object

    def __str__(self) -> str:
        return f"{self.kind.value}: ours {self.ours!r}, Go's {self.theirs!r}"

    @property
    def shape(self) -> str:
        """The difference without its quotations and numbers: differences of one shape most likely have one cause."""
        return "" if self.kind is Kind.REQUESTS else re.sub(r"\\?\".*\\?\"|\d+", "*", str(self))


def differences(
    ours: ProbeReport, theirs: ProbeReport, sent: Sequence[bytes], expected: Sequence[bytes]
) -> Iterator[Difference]:
    """Yields what differs between the answers ``ours`` and ``theirs`` and the requests ``sent`` and ``expected``."""
    mine, go = (ours.result, ours.error is not None), (theirs.result, theirs.error is not None)
    if mine != go:
        yield Difference(Kind.VERDICT, ours, theirs)
    elif (message := _text(ours)) != (wanted := _text(theirs)) and theirs.kind not in FREE_WORDING:
        yield Difference(Kind.TEXT, message, wanted)
    causes = frozenset({"body", "request"}) if theirs.error is not None else OUR_CAUSES[theirs.kind]
    if mine == go and ours.kind not in causes:
        yield Difference(Kind.CAUSE, ours.kind, theirs.kind)
    yield from _requests(sent, expected)


def _requests(sent: Sequence[bytes], expected: Sequence[bytes]) -> Iterator[Difference]:
    """The first request that differs. Go dials before it finds that it cannot write a request, so a connection without
    a request counts as no connection."""
    for mine, go in itertools.zip_longest(sent, expected, fillvalue=b""):
        # Handshakes hold random bytes, so two of them always differ.
        if mine != go and not (mine.startswith(HANDSHAKE) and go.startswith(HANDSHAKE)):
            yield Difference(Kind.REQUESTS, mine, go)
            return


def _text(answer: ProbeReport) -> tuple[bytes, bytes]:
    """Output and error without the parts that differ in every run."""
    output, error = (CLIENT_PORT.sub(b":{CLIENT}->", text or b"") for text in (answer.output, answer.error))
    if answer.result == "failure":
        output = output[:TEXT_BYTES_MAX]
        output = TIMEOUTS.sub("timeout", output.decode(errors="surrogateescape")).encode(errors="surrogateescape")
    return output, error
