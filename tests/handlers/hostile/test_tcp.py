"""A TCP probe connects and hangs up: nothing that a target says can reach it."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, Told, handler, judge
from tests.handlers.hostile.node import node

pytestmark = pytest.mark.e2e

CASES = [
    *(
        Case(name, "success", "ok", handler="tcpSocket")
        for name in ("answer-unasked", "endless-body", "never-accepting", "silence")
    ),
    Case("dropping", "failure", "connect_timeout", "i/o timeout", handler="tcpSocket", runs_out=True),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_connecting_is_all_there_is(case: Case, told: Callable[[Case], Told]) -> None:
    judge(case, told(case))


@pytest.mark.parametrize("case", [Case("reset-at-accept", "success", "ok", handler="tcpSocket")], ids=str)
def test_a_reset_may_be_there_before_the_connection_is_seen(case: Case, told: Callable[[Case], Told]) -> None:
    """Either may win the race: Go's dialer, too, asks for the socket's error once the socket is writable."""
    seen = told(case)
    assert (seen.outcome, seen.cause) in {("success", "ok"), ("failure", "reset")}, seen.said


@pytest.mark.parametrize(("timeout_seconds", "cause"), [(-1, "connect_timeout"), (0, "ok")])
def test_a_timeout_that_validation_refuses_is_what_it_is_to_gos_dialer(
    timeout_seconds: int, cause: str, healthy_port: int
) -> None:
    """Below zero it is over before it begins, and zero is none at all; in the live engine as in a single attempt."""
    with node() as engine:
        engine.add("pod", handler("tcpSocket", healthy_port), timeout_seconds)
        workers = engine.serve_until(lambda workers: workers["pod"].runs > 0)
    assert workers["pod"].last["cause"] == cause
