"""The page's own markup and the rows that its script asks for; tests/system/browser shows both in a browser."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from probelet.server.pages import heartbeats
from probelet.server.pages.heartbeats import Heartbeats
from probelet.server.pages.page import PAGE
from probelet.server.pages.rows import pod_row
from probelet.server.pages.source import PodRows

from tests.unit.server.fake_view import (
    SITUATIONS,
    FakeIncidents,
    FakeView,
    container,
    document,
    event,
    incident,
    last,
    pod,
    probe,
)
from tests.unit.server.reader import AS_OF, Reader

VOID = {"meta", "br", "link", "input"}


class Outline(HTMLParser):
    """The elements of a page; fails on a wrong end tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def row_of(found: dict[str, Any]) -> dict[str, Any]:
    return dict(pod_row(found, AS_OF))


def words(found: dict[str, Any]) -> str:
    """Everything that a row says."""
    row = row_of(found)
    parts = [row["says"], *row["notes"]]
    for one in row["containers"]:
        parts += [one["name"], one["says"], one["restarts"]]
        parts += [f"{each['type']} {each['says']}" for each in one["probes"]]
    return "; ".join(parts)


def test_the_page_is_well_formed_and_the_script_finds_each_element() -> None:
    ids = Outline(PAGE).ids
    assert sorted(ids) == sorted(set(ids))
    asked = set(re.findall(r'\$\("([a-z-]+)"\)', PAGE))
    assert asked <= set(ids)


def test_the_page_asks_nothing_of_any_other_place() -> None:
    assert set(re.findall(r"[a-z]+://[^\s\"'`]+", PAGE)) == {"http://www.w3.org/2000/svg"}


def test_the_script_writes_no_markup() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", PAGE)


def test_every_situation_has_its_words() -> None:
    found = " | ".join(map(words, SITUATIONS["pods"]))
    for expected in (
        "liveness fails 2/3",
        "readiness failed 3/3",
        "readiness recovers 1/3",
        "startup fails 4/30",
        "liveness not run yet",
        "CrashLoopBackOff",
        "3, next in 28s",
        "Error (exit 137)",
        "readiness, 10s ago: HTTP probe failed with statuscode: 500",
    ):
        assert expected in found


@pytest.mark.parametrize(
    ("found", "rank"),
    [
        (pod("a", container(ready=False, probes={"liveness": probe(result="Failure", last=last("failure"))})), 0),
        (pod("a", container(state="terminated", exit_code=1, ready=False), phase="Failed"), 0),
        (pod("a", container(probes={"liveness": probe(last=last("failure"), result_run=1)})), 1),
        (pod("a", container(ready=False)), 1),
        (pod("a", container(ready=False, started=False)), 2),
        (pod("a", container(probes={"liveness": probe(beats="..!.")})), 2),
        (pod("a", container(probes={"liveness": probe()})), 3),
        (pod("a", container(state="terminated", exit_code=0, ready=False), phase="Succeeded"), 4),
    ],
)
def test_how_bad_a_pod_is(found: dict[str, Any], rank: int) -> None:
    assert row_of(found)["rank"] == rank


async def test_the_worst_come_first() -> None:
    bad = pod("bad", container(ready=False))
    reader = Reader(FakeView(document(pod("done", phase="Succeeded"), pod("a-good", container()), bad)))
    assert (await reader.read())["order"] == ["uid-bad", "uid-a-good", "uid-done"]


async def test_a_reader_gets_only_what_is_new() -> None:
    view = FakeView(document(pod("a", container()), pod("b", container())))
    reader = Reader(view)
    first = await reader.read()
    assert [row["uid"] for row in first["rows"]] == first["order"] == ["uid-a", "uid-b"]
    second = await reader.read()
    assert (second["rows"], second["order"]) == ([], None)
    view.document["pods"][1]["ip"] = "127.8.0.9"
    third = await reader.read()
    assert ([row["uid"] for row in third["rows"]], third["order"]) == (["uid-b"], None)
    del view.document["pods"][0]
    fourth = await reader.read()
    assert (fourth["rows"], fourth["order"], fourth["pods"]) == ([], ["uid-b"], 1)


async def test_a_reader_of_an_earlier_process_gets_everything() -> None:
    view = FakeView()
    version = (await Reader(view).read())["version"]
    reader = Reader(view)
    reader.version = version
    assert len((await reader.read())["rows"]) == len(SITUATIONS["pods"])
    reader.version += 10**9
    assert len((await reader.read())["rows"]) == len(SITUATIONS["pods"])


async def test_readers_share_a_build_and_builds_keep_their_share() -> None:
    view = FakeView(document(pod("a", container())))
    clock = {"now": 100.0, "spent": 0.0}

    def spent() -> float:
        clock["spent"] += 0.05
        return clock["spent"]

    pages = Heartbeats(PodRows(view), lambda: clock["now"], spent)
    first = Reader(view, pages)
    version = (await first.read())["version"]
    view.document["node"] = "renamed"
    assert (await Reader(view, pages).read())["version"] == version
    # A pod, the end of the pods, and the head take 50 ms each.
    clock["now"] += 0.15 / heartbeats.SHARE - 0.1
    found = await first.read()
    assert (found["version"], found["next_ms"]) == (version, 100)
    clock["now"] += 0.11
    assert (await first.read())["node"] == "renamed"


async def test_many_readers_make_the_pace_slower() -> None:
    clock = 100.0
    pages = Heartbeats(PodRows(FakeView(document(pod("a", container())))), lambda: clock, lambda: 0.0)
    readers = [Reader(FakeView(), pages) for _ in range(50)]
    for reader in readers:
        await reader.read()
    clock += heartbeats.PACE_SECONDS
    found = await readers[0].read()
    assert found["next_ms"] == 50 * heartbeats.ANSWER_SECONDS / heartbeats.SHARE * 1_000


async def test_pods_above_the_limit_are_counted_but_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "ROWS_MAX", 2)
    reader = Reader(FakeView(document(*(pod(f"pod-{i}", container()) for i in range(5)))))
    found = await reader.read()
    assert (len(found["rows"]), found["pods"], found["more"]) == (2, 5, 3)


async def test_incidents_events_and_mistakes() -> None:
    error = {"path": "web.yaml", "line": 3, "kind": "Deployment", "namespace": "", "name": "web", "field": "spec"}
    view = FakeView(document(manifest_errors=[{**error, "message": "x"}], manifest_errors_total=3))
    found = await Reader(view).read()
    assert found["mistakes"] == ["web.yaml:3: Deployment web: spec: x"]
    assert (found["mistakes_more"], found["notices"], found["open"]) == (2, False, [])
    view.feed = FakeIncidents(incident())
    view.document |= {"incidents": [incident()], "incidents_total": 12}
    view.kept = [event(1, message="older"), event(2, message="newer", count=3)]
    found = await Reader(view).read()
    assert (found["notices"], found["open_more"]) == (True, 11)
    assert found["open"][0]["text"].startswith("shared target db:5432, for 12s: 3 of 3 pods")
    assert [(each["message"], each["times"]) for each in found["events"]] == [("newer", "3 times"), ("older", "")]


def test_an_old_manifest_is_said_at_its_pod() -> None:
    assert "the newest has a mistake: web.yaml:3: <b>" in words(pod("w", container(), manifest_error="web.yaml:3: <b>"))


@pytest.mark.parametrize("containers", [1, 2])
def test_a_pod_that_another_program_answers_for_names_it_once(containers: int) -> None:
    found = {"port": 8080, "listener": "0.0.0.0:8080", "pod": "", "container": "", "pid": 4711, "program": "<evil>"}
    of_pod = {**found, "port": 8081, "pod": "default/greedy", "container": "app", "program": "python3"}
    notes = row_of(pod("web", *(container(f"c{n}") for n in range(containers)), foreign_listeners=[found, of_pod]))[
        "notes"
    ]
    assert notes.count("port 8080: program <evil> (process 4711) answers here, on 0.0.0.0:8080") == 1
    assert notes.count("port 8081: pod default/greedy answers here, on 0.0.0.0:8080") == 1


def test_the_containers_of_a_pod_name_themselves_in_its_troubles() -> None:
    failed = {"liveness": probe(last=last("failure", "no"))}
    assert any(
        note.startswith("b: liveness, 10s ago")
        for note in row_of(pod("two", container("a"), container("b", probes=failed)))["notes"]
    )
