"""Connections that end in the middle of a response: the place of the end decides the error.

As in Go, the part of a line that arrived counts as the line, so the error names its mistake and not the end.
"""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, judge

pytestmark = pytest.mark.e2e

RESET = "connection reset by peer"
CUT = "unexpected EOF"

CASES = [
    Case("reset-at-accept", "failure", "reset", RESET),
    Case("reset-before-anything", "failure", "reset", RESET),
    Case("reset-in-status-line", "failure", "malformed", 'malformed HTTP status code "2"'),
    Case("reset-in-headers", "failure", "malformed", 'missing colon: "Content-Le"'),
    Case("reset-in-body", "error", "body", RESET),
    Case("reset-in-chunk", "error", "body", RESET),
    Case("reset-in-chunk-line", "error", "body", RESET),
    Case("reset-before-last-chunk", "error", "body", RESET),
    Case("reset-in-trailer", "error", "body", "http: suspiciously long trailer after chunked body"),
    Case("close-before-anything", "failure", "eof", "EOF"),
    Case("close-in-status-line", "failure", "malformed", 'malformed HTTP status code "2"'),
    Case("close-in-headers", "failure", "malformed", 'missing colon: "Content-Le"'),
    Case("close-in-body", "error", "body", CUT),
    Case("close-in-chunk", "error", "body", CUT),
    Case("close-in-chunk-line", "error", "body", CUT),
    Case("close-before-last-chunk", "error", "body", CUT),
    Case("close-in-trailer", "error", "body", "http: suspiciously long trailer after chunked body"),
    Case("half-close", "failure", "eof", "EOF"),
    Case("half-close-after-answer", "success", "ok", "ok"),
    Case("answer-kept-open", "success", "ok", "ok"),
    Case("answer-unasked", "success", "ok", "ok"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_cut_connection_gets_the_error_of_its_place(case: Case, report_of: Callable[[Case], ProbeReport]) -> None:
    judge(case, report_of(case))
