"""Responses with too much of a part: an attempt reads as much as the kubelet and hangs up, with TLS and without."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, judge

pytestmark = pytest.mark.e2e

TOO_LONG = "server response headers exceeded 10485760 bytes; aborted"

ENDS = [
    ("endless-body", "success", "ok", ""),
    ("endless-length", "success", "ok", ""),
    ("endless-chunks", "success", "ok", ""),
    ("huge-chunk", "success", "ok", ""),
    ("chunk-beyond-64-bits", "error", "body", "http chunk length too large"),
    ("chunk-extensions", "error", "body", "chunked encoding contains too much non-data"),
    ("endless-chunk-line", "error", "body", "header line too long"),
    ("endless-trailer", "error", "body", "http: suspiciously long trailer after chunked body"),
    ("headers-of-16-mib", "failure", "malformed", TOO_LONG),
    ("endless-tiny-headers", "failure", "malformed", TOO_LONG),
    ("endless-kept-headers", "failure", "malformed", TOO_LONG),
    ("endless-header-line", "failure", "malformed", TOO_LONG),
    ("endless-folds", "failure", "malformed", TOO_LONG),
    ("endless-status-line", "failure", "malformed", TOO_LONG),
    ("interim-responses", "failure", "malformed", TOO_LONG),
    ("long-wrong-line", "failure", "malformed", r'malformed MIME header: missing colon: "\x01\x01'),
    ("noise", "failure", "malformed", "malformed HTTP response"),
]


CASES = [
    *(Case(*end) for end in ENDS),
    *(Case(f"https-{name}", *end, handler="https") for name, *end in ENDS),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_attempt_ends_a_flood_at_the_kubelets_limit(case: Case, report_of: Callable[[Case], ProbeReport]) -> None:
    judge(case, report_of(case))
