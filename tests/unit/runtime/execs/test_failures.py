"""Every attempt gets exactly one answer, whatever its call fails with."""

import asyncio
from typing import Any

import pytest
from probelet.runtime.cri import errors
from structlog.testing import capture_logs

from tests.unit.runtime.execs.rig import Rig, run


def break_calls(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on every call of the runtime fails with an error that is no CRI error."""

    async def fail(*_: Any, **__: Any) -> Any:
        raise LookupError("no such thing")

    monkeypatch.setattr(rig.client, "exec_sync", fail)


@pytest.mark.parametrize("limits", [{}, {"max_in_flight": 1}, {"single_flight": True}, {"client_deadline": 1.0}])
async def test_an_error_that_is_no_cri_error_is_a_prober_error(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, limits: dict[str, Any]
) -> None:
    break_calls(rig, monkeypatch)
    execs = rig.execs(**limits)
    execs.start([run(1), run(2)])
    assert await rig.answers.count(2) == [(1, "error"), (2, "error")]
    assert rig.answers.finished[0].output == b"LookupError: no such thing"
    assert (execs.counts.in_flight, execs.counts.waiting, execs.counts.hanging) == (0, 0, 0)


async def test_an_unexpected_error_is_logged_once_while_it_stays_the_same(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_calls(rig, monkeypatch)
    with capture_logs() as logs:
        rig.execs().start([run(number) for number in range(5)])
        await rig.answers.count(5)
    [line] = [line for line in logs if line["event"] == "exec attempt failed unexpectedly"]
    assert (line["log_level"], line["error"]) == ("error", "LookupError: no such thing")
    assert isinstance(line["exc_info"], LookupError)


async def test_a_cri_error_is_no_line_of_the_log(rig: Rig) -> None:
    rig.runtime.refuse["exec_sync"] = errors.RuntimeRefused("broken")
    with capture_logs() as logs:
        rig.execs().start([run(1)])
        assert await rig.answers.count(1) == [(1, "error")]
    assert logs == []


async def test_an_attempt_whose_client_is_closed_is_a_prober_error(rig: Rig) -> None:
    rig.runtime.held["exec_sync"] = asyncio.Event()
    rig.execs().start([run(1)])
    await rig.asked(1)
    await rig.client.aclose()
    assert await rig.answers.count(1) == [(1, "error")]


async def test_closing_cancels_the_calls_in_flight(rig: Rig) -> None:
    rig.runtime.held["exec_sync"] = asyncio.Event()
    execs = rig.execs()
    execs.start([run(1)])
    await rig.asked(1)
    await execs.close()
    assert (execs.counts.in_flight, rig.answers.finished) == (0, [])
