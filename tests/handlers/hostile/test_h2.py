"""HTTP/2 servers that use every liberty: over HTTPS, where ALPN agreed on it."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, Told, judge

pytestmark = pytest.mark.e2e

AWAITING = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
READING = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"

# Frames that are legal, however many they are: only the clock ends it.
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
# Frames that are not, or beyond what anyone needs.
REFUSED = {
    "continuations": "connection error: PROTOCOL_ERROR",
    "empty-continuations": "http2: too many empty frames",
    "header-bomb": "connection error: PROTOCOL_ERROR",
    # All of them together may be as long as one head.
    "interim-heads": "header list too large",
    "long-frame": "http2: frame too large",
    "pushes": "connection error: PROTOCOL_ERROR",
}

CASES = [
    *(Case(f"https-h2-{name}", "failure", "header_timeout", AWAITING, "https", runs_out=True) for name in LEGAL),
    *(Case(f"https-h2-{name}", "failure", "http2", says, "https") for name, says in REFUSED.items()),
    # Each refusal is a new connection, which is somewhere between its first byte and its answer when the time is over.
    Case("https-h2-refused-streams", "failure", "header_timeout", AWAITING, "https", runs_out=True, other_cause="tls"),
    Case("https-h2-cut", "failure", "reset", "connection reset by peer", "https"),
    Case("https-h2-slow-frames", "failure", "header_timeout", AWAITING, "https", runs_out=True),
    Case("https-h2-slow-data", "error", "body", READING, "https", runs_out=True),
    Case("https-h2-empty-data", "error", "body", "http2: too many empty frames", "https"),
    Case("https-h2-endless-data", "success", "ok", "", "https"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_server_may_do_what_it_likes_until_the_time_is_over(case: Case, told: Callable[[Case], Told]) -> None:
    judge(case, told(case))
