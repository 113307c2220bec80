"""``probelet incidents``: lines for people, documents for programs, and an exit code for scripts."""

import json

from probelet.cli.exit import Exit

from tests.unit.cli.conftest import Service
from tests.unit.server.fake_view import FakeIncidents, document, incident


async def test_an_open_incident_is_a_line_and_exit_code_1(service: Service) -> None:
    service.view.feed = FakeIncidents(incident())
    ended = await service.ask("incidents")
    assert (ended.code, ended.err) == (Exit.FAILED, "")
    assert ended.out == (
        "shared target db:5432, for 12s: 3 of 3 pods that ask db:5432 fail (timeout); 2 killed, 2 for nothing\n"
    )


async def test_without_an_open_incident_the_exit_code_is_0(service: Service) -> None:
    service.view.feed = FakeIncidents()
    ended = await service.ask("incidents")
    assert (ended.code, ended.out) == (Exit.GOOD, "n1: no incident is open\n")


async def test_the_document_for_programs(service: Service) -> None:
    service.view.feed = FakeIncidents(incident())
    ended = await service.ask("incidents", "-o", "json")
    assert json.loads(ended.out) == service.view.feed.document()


async def test_followers_get_what_is_open_and_then_each_change(service: Service) -> None:
    service.view.feed = FakeIncidents(incident())
    service.view.feed.change("began", incident())
    lines = await service.ask("incidents", "-f", "-o", "json", "--duration", "50ms")
    assert lines.code == Exit.GOOD
    [first] = map(json.loads, lines.out.splitlines())
    assert (first["change"], first["incident"]["id"], "seq" in first) == ("open", "1", False)


async def test_names_of_pods_do_not_reach_the_terminal_as_they_are(service: Service) -> None:
    service.view.feed = FakeIncidents(incident(value="\x1b[31mred", evidence="a\nb", killed=0))
    ended = await service.ask("incidents")
    assert ended.out == "shared target \\x1b[31mred, for 12s: a b\n"


async def test_a_service_that_looks_for_none_says_so(service: Service) -> None:
    ended = await service.ask("incidents")
    assert (ended.code, ended.out) == (Exit.CANNOT, "")
    assert "incidents are not looked for here" in ended.err


async def test_a_duration_needs_a_follower(service: Service) -> None:
    ended = await service.ask("incidents", "--duration", "1s")
    assert ended.code == Exit.USAGE
    assert "--duration is for --follow" in ended.err


async def test_the_status_has_a_line_for_each_open_incident_above_the_table(service: Service) -> None:
    service.view.document = document(incidents=[incident()], incidents_total=3)
    ended = await service.ask("status")
    assert ended.out.splitlines()[1:3] == [
        "incident: shared target db:5432, for 12s: 3 of 3 pods that ask db:5432 fail (timeout);"
        " 2 killed, 2 for nothing",
        "incident: and 2 more: probelet incidents",
    ]
