"""``probelet status --wait``."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Probelet, Service
from tests.unit.server.fake_view import container, document, pod


@pytest.mark.parametrize(
    "conditions",
    [
        ("web=ready",),
        ("default/web=ready", "crasher=CrashLoopBackOff"),
        ("job=Failed", "job=Error"),
        ("crasher=waiting",),
    ],
)
async def test_conditions_that_hold_print_the_status(service: Service, conditions: tuple[str, ...]) -> None:
    waits = [word for condition in conditions for word in ("--wait", condition)]
    ended = await service.ask("status", "web", *waits)
    assert (ended.code, ended.err) == (0, "")
    assert "web" in ended.out
    assert "crasher" not in ended.out


@pytest.mark.parametrize(
    ("conditions", "missing"),
    [(("ready",), "ready"), (("web=ready", "web=Succeeded", "nope=ready"), "web=Succeeded, nope=ready")],
)
async def test_conditions_that_do_not_hold_in_time(service: Service, conditions: tuple[str, ...], missing: str) -> None:
    waits = [word for condition in conditions for word in ("--wait", condition)]
    ended = await service.ask("status", *waits, "--timeout", "1ms")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[0] == f"probelet status: timed out waiting for the condition: {missing}"


async def test_every_pod_has_to_be_in_a_state_without_a_pod(service: Service) -> None:
    service.view.document = document(pod("web", container()), pod("cart", container()))
    assert (await service.ask("status", "--wait", "ready")).code == 0
    service.view.document = document()
    assert (await service.ask("status", "--wait", "ready", "--timeout", "1ms")).code == 1


def test_without_a_service_the_wait_ends_as_any_verb_does(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("status", "--wait", "ready", "--timeout", "1ms", "--state-dir", str(tmp_path))
    assert (ended.code, ended.out) == (3, "")


@pytest.mark.parametrize("condition", ["=ready", "web=", ""])
async def test_a_condition_that_is_none(service: Service, condition: str) -> None:
    ended = await service.ask("status", "--wait", condition)
    assert (ended.code, ended.out) == (2, "")
    assert "must be STATE or POD=STATE" in ended.err


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("web=Ready", 'there is no state "Ready": did you mean ready?'),
        ("redy", 'there is no state "redy": did you mean ready?'),
        ("CrashLoopBackoff", 'there is no state "CrashLoopBackoff": did you mean CrashLoopBackOff?'),
        ("web=42", 'there is no state "42": must be one of ready, Pending, '),
    ],
)
async def test_a_state_that_does_not_exist_is_not_waited_for(service: Service, condition: str, meant: str) -> None:
    ended = await service.ask("status", "--wait", condition)
    assert (ended.code, ended.out) == (2, "")
    assert meant in ended.err
