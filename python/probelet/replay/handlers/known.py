"""Differences from the kubelet's handlers that are known, by rule, so that an unseen case has its reason too.

Each rule has a line in docs/kubelet-parity.md, and names the sections that may differ. Anything else has to be equal.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import hpack

from ..difference import Difference
from .case import Case
from .frames import HEADERS, PREFACE, RST_STREAM, SETTINGS, Frame, fields_of, split

CBC = "_CBC_SHA"
TEXT_CHARACTERS_MAX = 10_240
ENABLE_PUSH, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = 2, 5, 6
FRAME_BYTES_MIN, FRAME_BYTES_MAX = 1 << 14, (1 << 24) - 1
CONNECTION_FIELDS = {"connection", "transfer-encoding", "upgrade", "keep-alive", "proxy-connection", "te"}
H2_REFUSAL = " error detected: "
"""What the h2 library says when it is the one that refuses; what came from the peer is "received"."""
REQUEST_LIST_BYTES = 512
"""More than the fields of a health check come to, 32 bytes a field included (RFC 9113 section 6.5.2)."""
REQUEST_FIELDS = {":method", ":scheme", ":authority", ":path"}


@dataclass(frozen=True)
class Rule:
    """A kind of case that differs."""

    reason: str
    sections: frozenset[str]
    applies: Callable[[Case, Difference], bool]


def reason_for(case: Case, difference: Difference) -> str | None:
    """Why a difference is as it has to be; None if nothing says so."""
    for rule in RULES:
        if difference.section in rule.sections and rule.applies(case, difference):
            return rule.reason
    return None


def _takes_cbc_alone(case: Case, difference: Difference) -> bool:
    """A server whose every suite is ECDHE with AES-CBC and SHA-1, which Go offers and rustls does not have."""
    suites: list[Sequence[str]] = [listener.tls.get("ciphers") or () for listener in case.listeners if listener.tls]
    return any(each and all("_ECDHE_" in name and name.endswith(CBC) for name in each) for each in suites)


def _is_cut(case: Case, difference: Difference) -> bool:
    """What we say is the beginning of what the kubelet says."""
    expected, got = str(difference.expected), str(difference.got).rstrip("|")
    return len(got) >= TEXT_CHARACTERS_MAX - 3 and expected.startswith(got)


def _h2_refuses(case: Case, difference: Difference) -> bool:
    """A gRPC server says something the h2 library of Rust is stricter about than Go, and the library did refuse."""
    refused = difference.got == "grpc_status" if difference.section == "cause" else H2_REFUSAL in str(difference.got)
    return refused and case.handler == "grpc" and any(map(_is_refused_among, _sent(case)))


def _limits_the_request(case: Case, difference: Difference) -> bool:
    """A gRPC server takes no request as long as ours: Go sends none, the h2 library does not look at the limit."""
    frames = (frame for frames in _sent(case) for frame in frames)
    limits = (value for frame in frames for key, value in _settings(frame) if key == MAX_HEADER_LIST_SIZE)
    return case.handler == "grpc" and any(limit < REQUEST_LIST_BYTES for limit in limits)


def _sent(case: Case) -> Iterator[list[Frame]]:
    """The frames of each connection the server serves."""
    for listener in case.listeners:
        for script in listener.scripts:
            yield split(PREFACE + b"".join(step.data * step.repeat for step in script if step.op == "send"))[0]


def _settings(frame: Frame) -> list[tuple[int, int]]:
    if frame.kind != SETTINGS:
        return []
    starts = range(0, len(frame.payload), 6)
    return [
        (int.from_bytes(frame.payload[at : at + 2]), int.from_bytes(frame.payload[at + 2 : at + 6])) for at in starts
    ]


def _is_refused_among(frames: list[Frame]) -> bool:
    # A call that was reset may be made again, on the next stream of a client.
    calls = {1 + 2 * nth for nth in range(1 + sum(frame.kind == RST_STREAM for frame in frames))}
    return any(_is_refused(frame) or (frame.kind == HEADERS and frame.stream not in calls) for frame in frames)


def _is_refused(frame: Frame) -> bool:
    if frame.kind == SETTINGS:
        return any(_is_odd(key, value) for key, value in _settings(frame))
    if frame.kind != HEADERS:
        return False
    try:
        fields = fields_of(frame, hpack.Decoder())
    except hpack.HPACKError:
        return False
    names = {name for name, _ in fields}
    status = next((value for name, value in fields if name == ":status"), "200")
    lengths = [value for name, value in fields if name == "content-length"]
    is_status = status.isdecimal() and len(status) == 3 and status >= "100"
    is_length = all(map(str.isdecimal, lengths)) and not (frame.ends_stream and any(map(int, lengths)))
    return bool(names & (CONNECTION_FIELDS | REQUEST_FIELDS)) or not is_status or not is_length


def _is_odd(key: int, value: int) -> bool:
    """A setting whose value h2 refuses."""
    is_frame_size = FRAME_BYTES_MIN <= value <= FRAME_BYTES_MAX
    return (key == ENABLE_PUSH and value != 0) or (key == MAX_FRAME_SIZE and not is_frame_size)


RULES = (
    Rule(
        "rustls has no TLS 1.2 ECDHE AES-CBC suites",
        frozenset({"result", "cause", "text", "received"}),
        _takes_cbc_alone,
    ),
    Rule(
        "a gRPC answer that the h2 library refuses",
        frozenset({"result", "cause", "text"}),
        _h2_refuses,
    ),
    Rule(
        "a request longer than a gRPC server takes is sent and not answered",
        frozenset({"cause", "text"}),
        _limits_the_request,
    ),
    Rule("the text of a failure is cut at 10,240 bytes", frozenset({"text"}), _is_cut),
)
