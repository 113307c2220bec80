import asyncio
import io
import json
from typing import Any

import pytest
from probelet.cli.ask.events import print_event
from probelet.server.control import server as control_module
from rich.console import Console

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


def lines(found: dict[str, Any], *, width: int, terminal: bool) -> list[str]:
    stream = io.StringIO()
    print_event(found, "table", Console(file=stream, width=width, force_terminal=terminal, color_system=None))
    return stream.getvalue().splitlines()


LATE = event(
    1,
    message="Liveness probe failed: dial tcp [fd00:10:244:1::5]:8443: connect: no route to host",
    object="shop-production/checkout-7d9f8b6c5-x2x9z",
    count=3,
)


def test_on_a_narrow_terminal_an_event_goes_on_below_itself_without_a_word_lost() -> None:
    assert lines(LATE, width=60, terminal=True) == [
        "14:02:01 Unhealthy",
        "         shop-production/checkout-7d9f8b6c5-x2x9z{app}",
        "         Liveness probe failed: dial tcp",
        "         [fd00:10:244:1::5]:8443: connect: no route to host",
        "         (3 times)",
    ]
    for width in (19, 40, 60, 80):
        found = lines(LATE, width=width, terminal=True)
        assert max(map(len, found)) <= width
        assert all(line.startswith(" " * 9) for line in found[1:])
        assert "".join("".join(found).split()) == "".join(lines(LATE, width=500, terminal=True)[0].split())


def test_a_program_that_reads_events_gets_one_line_each() -> None:
    assert len(lines(LATE, width=40, terminal=False)) == 1


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
