"""A target that sends a byte a second cannot prolong an attempt: the timeout covers the whole attempt."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, judge

pytestmark = pytest.mark.e2e

AWAITING = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
READING = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"

# These are not served over TLS; all other behaviours are played with and without it.
PLAIN_HEADS = ["never-accepting", "redirect-with-a-slow-body"]
HEADS = [
    "hasty-header",
    "slow-end-of-head",
    "slow-headers",
    "slow-interim-responses",
    "slow-status-line",
    "silence",
]
BODIES = ["slow-body", "slow-body-without-length", "slow-chunk", "slow-chunk-line", "slow-trailer"]
CASES = [
    *(Case(name, "failure", "header_timeout", AWAITING, runs_out=True) for name in [*HEADS, *PLAIN_HEADS]),
    *(Case(name, "error", "body", READING, runs_out=True) for name in BODIES),
    *(Case(f"https-{name}", "failure", "header_timeout", AWAITING, "https", runs_out=True) for name in HEADS),
    *(Case(f"https-{name}", "error", "body", READING, "https", runs_out=True) for name in BODIES),
    Case("dropping", "failure", "connect_timeout", AWAITING, runs_out=True),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_timeout_ends_an_attempt_against_a_slow_target(
    case: Case, report_of: Callable[[Case], ProbeReport]
) -> None:
    judge(case, report_of(case))
