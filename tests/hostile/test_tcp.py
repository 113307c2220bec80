"""A TCP probe connects and hangs up: nothing that a target says can reach it."""

from collections.abc import Callable

import pytest

from .case import Case, Told, judge

pytestmark = pytest.mark.e2e

CASES = [
    *(
        Case(name, "success", "ok", handler="tcpSocket")
        for name in ("answer-unasked", "endless-body", "never-accepting", "reset-at-accept", "silence")
    ),
    Case("dropping", "failure", "connect_timeout", "i/o timeout", handler="tcpSocket", runs_out=True),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_connecting_is_all_there_is(case: Case, told: Callable[[Case], Told]) -> None:
    judge(case, told(case))
