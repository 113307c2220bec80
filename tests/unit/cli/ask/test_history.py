"""``probelet status --history`` and the beats of ``probelet top``."""

import io
import json
from typing import Any

from probelet.cli.ask.history.blocks import HistoryBlocks
from probelet.cli.ask.top_table import TopTable
from probelet.server.ranking import top_document
from rich.console import Console

from tests.unit.cli.conftest import Service
from tests.unit.server.fake_view import container, document, pod, probe


def attempt(second: int, outcome: str = "success", **changes: Any) -> dict[str, Any]:
    cause = "ok" if outcome == "success" else "status"
    at = f"2026-11-21T14:01:{second:02}.000Z"
    return {"at": at, "outcome": outcome, "cause": cause, "duration_ms": 3.0, "lateness_ms": 0.5, **changes}


UNAVAILABLE = "HTTP probe failed with statuscode: 503"
FAILURES = [
    attempt(3, "failure", duration_ms=1_250.4, message=UNAVAILABLE, at="2026-11-20T23:59:58.000Z"),
    attempt(5, "error", cause="starved", duration_ms=0.2, message="a long\nstory"),
]
HISTORY = {
    "attempts": [
        attempt(0),
        attempt(1, lateness_ms=100.0),
        attempt(2, "warning"),
        *({key: value for key, value in failure.items() if key != "message"} for failure in FAILURES),
        attempt(9),
    ],
    "failures": FAILURES,
}
PODS = (
    pod("web", container(probes={"liveness": probe(history=HISTORY), "startup": probe()})),
    pod("cart", container(probes={"readiness": probe(history={"attempts": [attempt(4)], "failures": []})})),
)


async def test_each_probe_has_a_block_with_beats_and_failures(service: Service) -> None:
    service.view.document = document(*PODS)
    ended = await service.ask("status", "web", "--history")
    assert (ended.code, ended.err) == (0, "")
    assert (
        ended.out
        == """\
node-a: attempts up to 14:02:11 UTC, oldest first
· good, ~ good, 100 ms late or more, w warning, ! failure, ? prober error
default/web app liveness
  ·~w!?·  since 14:01:00
  2026-11-20 23:59:58   1.3s  status: HTTP probe failed with statuscode: 503
  14:01:05   <1ms  starved: a long story
default/web app startup
  no attempt yet
"""
    )
    assert service.view.history == 64


async def test_json_has_the_history_only_where_it_is_asked_for(service: Service) -> None:
    service.view.document = document(*PODS)
    ended = await service.ask("status", "web", "--history", "-o", "json")
    [found] = json.loads(ended.out)["pods"]
    assert found["containers"][0]["probes"]["liveness"]["history"] == HISTORY
    await service.ask("status", "-o", "json")
    assert service.view.history == 0


async def test_the_cluster_has_no_history(service: Service) -> None:
    ended = await service.ask("status", "--cluster", "--history")
    assert (ended.code, ended.out) == (2, "")
    assert "--cluster shows the nodes of a cluster: it takes no POD, --watch, --wait or --history" in ended.err


def drawn(blocks: HistoryBlocks | TopTable, width: int) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=width).print(blocks)
    return stream.getvalue().splitlines()


def test_a_narrow_terminal_keeps_the_newest_attempts() -> None:
    many = {"attempts": [*map(attempt, range(40)), attempt(50, "failure")], "failures": []}
    shown = document(pod("web", container(probes={"liveness": probe(history=many)})))
    assert drawn(HistoryBlocks(shown, unicode=False), 30)[-1] == f"  {'.' * 27}!"


def top(*pods: dict[str, Any], width: int) -> list[str]:
    status = document(*pods)
    return drawn(TopTable(top_document(status), status, unicode=True, lines=None), width)


def test_top_draws_the_attempts_of_all_probes_of_a_container_as_they_came() -> None:
    probes = {
        "liveness": probe(history={"attempts": [attempt(1), attempt(21, "failure")], "failures": []}),
        "readiness": probe(history={"attempts": [attempt(2, "error"), *map(attempt, range(3, 20))], "failures": []}),
    }
    head, row = top(pod("web", container(probes=probes)), width=120)[1:]
    assert head.split()[-1] == "BEATS"
    assert row.endswith(f"L✓ R✓   {'·' * 15}!")


def test_beats_are_the_first_column_to_leave_and_need_a_history() -> None:
    assert "BEATS" not in top(*PODS, width=60)[1]
    assert "BEATS" in top(*PODS, width=120)[1]
    without = pod("web", container(probes={"liveness": probe()}))
    assert "BEATS" not in top(without, width=120)[1]


async def test_top_asks_for_beats_where_there_is_room(service: Service, monkeypatch: Any) -> None:
    await service.ask("top")
    assert service.view.history == 0
    monkeypatch.setenv("COLUMNS", "120")
    await service.ask("top")
    assert service.view.history == 16
    await service.ask("top", "-o", "json")
    assert service.view.history == 0
