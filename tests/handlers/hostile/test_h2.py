"""HTTP/2 servers that send everything HTTP/2 permits, over HTTPS with ALPN."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, judge

pytestmark = pytest.mark.e2e

AWAITING = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
READING = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"

# Legal frames in any number: only the timeout ends the attempt.
LEGAL = [
    "goaway-with-long-text",
    "goaways",
    "no-streams",
    "pings",
    "pings-unread",
    "priorities",
    "resets",
    "settings",
    "settings-unread",
    "silence",
    "unknown-frames",
    "window-updates",
    "zero-window",
]
# Illegal frames, or more of them than the client accepts.
REFUSED = {
    "continuations": "connection error: PROTOCOL_ERROR",
    "empty-continuations": "http2: too many empty frames",
    "header-bomb": "connection error: PROTOCOL_ERROR",
    # All interim heads together may be as long as one head.
    "interim-heads": "header list too large",
    "long-frame": "http2: frame too large",
    "pushes": "connection error: PROTOCOL_ERROR",
}

CASES = [
    *(Case(f"https-h2-{name}", "failure", "header_timeout", AWAITING, "https", runs_out=True) for name in LEGAL),
    *(Case(f"https-h2-{name}", "failure", "http2", says, "https") for name, says in REFUSED.items()),
    # The client connects again after each refusal, so the timeout may also end a handshake.
    Case("https-h2-refused-streams", "failure", "header_timeout", AWAITING, "https", runs_out=True, other_cause="tls"),
    Case("https-h2-cut", "failure", "reset", "connection reset by peer", "https"),
    Case("https-h2-slow-frames", "failure", "header_timeout", AWAITING, "https", runs_out=True),
    Case("https-h2-slow-data", "error", "body", READING, "https", runs_out=True),
    Case("https-h2-empty-data", "error", "body", "http2: too many empty frames", "https"),
    Case("https-h2-endless-data", "success", "ok", "", "https"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hostile_http2_server_gets_the_expected_outcome(case: Case, report_of: Callable[[Case], ProbeReport]) -> None:
    judge(case, report_of(case))
