"""A byte a second keeps nobody: the timeout is one for the whole attempt."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, Told, judge

pytestmark = pytest.mark.e2e

AWAITING = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
READING = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"

# Listeners have no handshake; everything else is played behind one too.
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
def test_the_timeout_ends_it(case: Case, told: Callable[[Case], Told]) -> None:
    judge(case, told(case))
