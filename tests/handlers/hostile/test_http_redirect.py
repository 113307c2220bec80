"""Redirects without end: an attempt makes ten requests, reads little of each body, and limits each text."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, judge

pytestmark = pytest.mark.e2e

TOO_MANY = "stopped after 10 redirects"
TOO_LONG = "Location header longer than 8192 bytes"
LONG_PATH = "/" + "x" * 3000

CASES = [
    Case("redirect-loop", "failure", "redirect", TOO_MANY),
    Case("redirect-to-itself-with-bodies", "failure", "redirect", TOO_MANY),
    Case("redirect-with-a-long-body", "failure", "redirect", TOO_MANY),
    Case("redirect-that-grows", "failure", "redirect", TOO_LONG, path=LONG_PATH),
    Case("redirect-to-a-long-target", "failure", "redirect", TOO_LONG),
    Case("redirect-to-a-wrong-target", "failure", "redirect", r'failed to parse Location header "%\xff\xff'),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_attempt_ends_redirects_without_end(case: Case, report_of: Callable[[Case], ProbeReport]) -> None:
    judge(case, report_of(case))
