import asyncio
import json

import pytest
from probelet.server.control import server as control_module

from tests.unit.cli.conftest import Service
from tests.unit.server.fake_view import event


async def test_events_as_lines_for_a_person(service: Service) -> None:
    service.view.kept = [
        event(1, "Started", "Container started"),
        event(3, "Sandbox", "of the whole pod", field_path=""),
        event(2, message="Liveness probe failed: \x1b[31mred\nsecond line", count=3),
    ]
    ended = await service.ask("events")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "14:02:01 Started    default/web{app} Container started",
        "14:02:01 Sandbox    default/web of the whole pod",
        "14:02:01 Unhealthy  default/web{app} Liveness probe failed: \\x1b[31mred second line (3 times)",
    ]


async def test_json_is_one_object_per_line_without_seq(service: Service) -> None:
    service.view.kept = [event(1, message="two\nlines"), event(7, "Killing")]
    lines = (await service.ask("events", "-o", "json")).out.splitlines()
    wanted = [{key: value for key, value in found.items() if key != "seq"} for found in service.view.kept]
    assert [json.loads(line) for line in lines] == wanted


@pytest.mark.parametrize("name", ["cart", "shop/cart"])
async def test_only_the_events_of_one_pod(service: Service, name: str) -> None:
    service.view.kept = [event(1), event(2, object="shop/cart", message="mine"), event(3, object="shop/cart-2")]
    lines = (await service.ask("events", name, "-o", "json")).out.splitlines()
    assert [json.loads(line)["message"] for line in lines] == ["mine"]


async def test_following_prints_new_events_until_the_service_ends(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "FOLLOW_SECONDS", 0.001)
    service.view.kept = [event(1, message="first")]
    verb = asyncio.create_task(service.ask("events", "--follow", "-o", "json"))
    await service.view.asked.wait()
    service.view.kept.append(event(2, message="second"))
    await service.control.close()
    ended = await verb
    assert [json.loads(line)["message"] for line in ended.out.splitlines()] == ["first", "second"]
    assert ended.code == 3
    assert ended.err.splitlines()[0].endswith("has ended")


async def test_following_for_a_time_exits_with_0(service: Service) -> None:
    service.view.kept = [event(1)]
    # Real time: long enough for the first event to arrive on a busy machine.
    ended = await service.ask("events", "--follow", "--duration", "500ms")
    assert (ended.code, ended.err) == (0, "")
    assert "Unhealthy" in ended.out


async def test_a_pod_that_is_unknown_is_bad_input_and_one_that_has_gone_is_not(service: Service) -> None:
    service.view.kept = [event(1, object="default/gone")]
    for follow in ((), ("--follow",)):
        ended = await service.ask("events", "nope", *follow)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith('probelet events: there is no pod "nope"')
    assert (await service.ask("events", "gone")).code == 0
    assert (await service.ask("events", "crasher")).out == ""
