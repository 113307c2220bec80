"""A TCP probe connects and hangs up, so nothing that a target sends can reach it."""

from collections.abc import Callable

import pytest

from tests.handlers.hostile.case import Case, ProbeReport, handler, judge
from tests.handlers.hostile.served_engine import served_engine

pytestmark = pytest.mark.e2e

CASES = [
    *(
        Case(name, "success", "ok", handler="tcpSocket")
        for name in ("answer-unasked", "endless-body", "never-accepting", "silence")
    ),
    Case("dropping", "failure", "connect_timeout", "i/o timeout", handler="tcpSocket", runs_out=True),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_tcp_probe_only_connects(case: Case, report_of: Callable[[Case], ProbeReport]) -> None:
    judge(case, report_of(case))


@pytest.mark.parametrize("case", [Case("reset-at-accept", "success", "ok", handler="tcpSocket")], ids=str)
def test_a_reset_may_arrive_before_the_prober_sees_the_connection(
    case: Case, report_of: Callable[[Case], ProbeReport]
) -> None:
    """Either may win the race: Go's dialer, too, asks for the socket's error once the socket is writable."""
    seen = report_of(case)
    assert (seen.outcome, seen.cause) in {("success", "ok"), ("failure", "reset")}, seen.text


@pytest.mark.parametrize(("timeout_seconds", "cause"), [(-1, "connect_timeout"), (0, "ok")])
def test_a_negative_timeout_ends_an_attempt_at_once_and_zero_means_no_timeout(
    timeout_seconds: int, cause: str, healthy_port: int
) -> None:
    """A negative timeout is over before the attempt begins, and 0 means no timeout; also in the live engine."""
    with served_engine() as engine:
        engine.add("pod", handler("tcpSocket", healthy_port), timeout_seconds)
        workers = engine.serve_until(lambda workers: workers["pod"].runs > 0)
    assert workers["pod"].last["cause"] == cause
