"""gRPC servers that send everything that HTTP/2 permits, and answers that gRPC does not permit."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import TIMEOUT_SECONDS, Case, ProbeReport, judge

pytestmark = pytest.mark.e2e

LATE = f"timeout: health rpc did not complete within {TIMEOUT_SECONDS}s"
UNCONNECTED = "timeout: failed to connect service"
FAILED = "error: health rpc probe failed: rpc error: code = "

# The server has sent its SETTINGS; the frames after them are legal, but no answer.
LEGAL = [
    "interim-heads",
    "no-streams",
    "pings",
    "pings-unread",
    "priorities",
    "pushes",
    "resets",
    "settings",
    "settings-unread",
    "slow-frames",
    "unknown-frames",
    "window-updates",
    "zero-window",
]
REFUSED = ["continuations", "empty-continuations", "header-bomb", "long-frame"]
WRONG = [
    ("grpc-endless-length", "ResourceExhausted desc = grpc: received message larger than max"),
    ("grpc-long-message", "Internal desc = "),
    ("grpc-long-status", "Internal desc = mmmm"),
    ("grpc-messages", "Internal desc = cardinality violation"),
    ("grpc-no-trailers", "Internal desc = server closed the stream without sending trailers"),
    ("endless-data", "Unknown desc = unexpected HTTP status code received from server: 200 (OK)"),
    ("empty-data", "Unknown desc = unexpected HTTP status code received from server: 200 (OK)"),
    ("cut", "Unavailable desc = error reading from server: read tcp"),
]

CASES = [
    *(Case(f"h2-{name}", "failure", "header_timeout", LATE, "grpc", runs_out=True) for name in LEGAL),
    *(Case(f"h2-{name}", "failure", "grpc_status", FAILED, "grpc") for name in REFUSED),
    *(Case(f"h2-{name}", "failure", "grpc_status", f"{FAILED}{says}", "grpc") for name, says in WRONG),
    Case("h2-silence", "failure", "connect_timeout", UNCONNECTED, "grpc", runs_out=True),
    Case("dropping", "failure", "connect_timeout", UNCONNECTED, "grpc", runs_out=True),
    Case("reset-at-accept", "failure", "connect_timeout", UNCONNECTED, "grpc", runs_out=True),
    Case("noise", "failure", "connect_timeout", UNCONNECTED, "grpc", runs_out=True),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hostile_grpc_server_gets_the_expected_outcome(case: Case, report_of: Callable[[Case], ProbeReport]) -> None:
    judge(case, report_of(case))
