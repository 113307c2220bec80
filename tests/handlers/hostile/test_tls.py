"""Handshakes that go wrong: the attempt ends at once or with its timeout, and its error names TLS."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, judge

pytestmark = pytest.mark.e2e

AWAITING = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
NOT_TLS = "tls: first record does not look like a TLS handshake"

CASES = [
    Case("tls-stall", "failure", "tls", AWAITING, "https", runs_out=True),
    Case("tls-slow-record", "failure", "tls", AWAITING, "https", runs_out=True),
    Case("tls-garbage", "failure", "tls", NOT_TLS, "https"),
    Case("tls-early-data", "failure", "tls", NOT_TLS, "https"),
    Case("tls-empty-records", "failure", "tls", "tls: ", "https"),
    Case("tls-endless-message", "failure", "tls", "tls: ", "https"),
    Case("tls-long-record", "failure", "tls", "tls: ", "https"),
    Case("tls-warnings", "failure", "tls", "tls: ", "https"),
    Case("tls-reset", "failure", "reset", "connection reset by peer", "https"),
    Case("tls-close", "failure", "eof", "EOF", "https"),
    Case("dropping", "failure", "connect_timeout", AWAITING, "https", runs_out=True),
    Case("https-reset-before-anything", "failure", "reset", "connection reset by peer", "https"),
    Case("https-reset-in-body", "error", "body", "connection reset by peer", "https"),
    Case("https-close-in-body", "error", "body", "unexpected EOF", "https"),
    Case("https-close-before-anything", "failure", "eof", "EOF", "https"),
    Case("https-half-close-after-answer", "success", "ok", "ok", "https"),
    Case("https-answer-kept-open", "success", "ok", "ok", "https"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bad_handshake_gets_the_error_of_its_mistake(case: Case, report_of: Callable[[Case], ProbeReport]) -> None:
    judge(case, report_of(case))
