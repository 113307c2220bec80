"""Known differences from the kubelet's handlers, as rules, so that an unseen case has its reason too.

Each rule has a line in docs/kubelet-parity.md and names the sections that may differ. All else must be equal.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from probelet_conformance.difference import Difference
from probelet_conformance.handlers.case.case import Case

CBC = "_CBC_SHA"
TEXT_CHARACTERS_MAX = 10_240
REFUSAL = "remote error: tls: handshake failure"
UNCONNECTED = "timeout: failed to connect service"
REPLACED = re.compile(r"(?:\\x[0-9a-f]{2})+|\ufffd+")
OFFER = ("grpc-accept-encoding", "gzip")


@dataclass(frozen=True)
class Rule:
    """A kind of case that may differ."""

    reason: str
    sections: frozenset[str]
    applies: Callable[[Case, Difference], bool]


def reason_for(case: Case, difference: Difference) -> str | None:
    """The reason for a known difference; None for an unknown one."""
    for rule in RULES:
        if difference.section in rule.sections and rule.applies(case, difference):
            return rule.reason
    return None


def _takes_cbc_alone(case: Case, difference: Difference) -> bool:
    """True for a server with only ECDHE suites of AES-CBC and SHA-1, which Go offers and rustls lacks."""
    suites: list[Sequence[str]] = [listener.tls.get("ciphers") or () for listener in case.listeners if listener.tls]
    return any(each and all("_ECDHE_" in name and name.endswith(CBC) for name in each) for each in suites)


def _refuses(case: Case, difference: Difference) -> bool:
    """True for a second connection to a server that refused the first offer of a TLS handshake. A gRPC probe that could
    not connect does not say why."""
    is_second = difference.got == str(difference.expected).replace(": 1 conn", ": 2 conn")
    texts = REFUSAL, UNCONNECTED
    return is_second and any(text in str(case.expect.get("output")) for text in texts) and _uses_tls(case)


def _uses_tls(case: Case) -> bool:
    return any(listener.tls for listener in case.listeners) or case.probe.get("httpGet", {}).get("scheme") == "HTTPS"


def _lacks_gzip(case: Case, difference: Difference) -> bool:
    """True for a request recorded without the offer of gzip, which only the kubelet's other packages bring about."""
    got = difference.got if isinstance(difference.got, list) else []
    return case.handler == "grpc" and difference.expected == [[field for field in one if field != OFFER] for one in got]


def _is_cut(case: Case, difference: Difference) -> bool:
    """True if our text is the beginning of the kubelet's."""
    expected, got = str(difference.expected), str(difference.got).rstrip("|")
    return len(got) >= TEXT_CHARACTERS_MAX - 3 and expected.startswith(got)


def _is_no_utf8(case: Case, difference: Difference) -> bool:
    """True for a malformed field that Go before 1.26 writes as it is: U+FFFD stands for bytes that are no UTF-8."""
    expected, got = str(difference.expected), str(difference.got)
    return (
        "malformed MIME header" in got and REPLACED.sub("\ufffd", expected) == REPLACED.sub("\ufffd", got) != expected
    )


RULES = (
    Rule(
        "rustls has no TLS 1.2 ECDHE AES-CBC suites",
        frozenset({"result", "cause", "text", "received"}),
        _takes_cbc_alone,
    ),
    Rule("post-quantum groups are offered on a second connection", frozenset({"received"}), _refuses),
    Rule("recorded by a program that does not link grpc-go's gzip", frozenset({"received"}), _lacks_gzip),
    Rule("U+FFFD stands for bytes of a malformed field that are no UTF-8", frozenset({"text"}), _is_no_utf8),
    Rule("the text of a failure is cut at 10,240 bytes", frozenset({"text"}), _is_cut),
)
