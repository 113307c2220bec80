import json
import time
from typing import Any

import pytest
from probelet.cli.ask import watch as watch_module

from tests.unit.cli.conftest import Service
from tests.unit.server.fake_view import SITUATIONS, container, document, pod


async def test_a_table_of_every_situation(service: Service) -> None:
    ended = await service.ask("status")
    assert (ended.code, ended.err) == (0, "")
    assert (
        ended.out
        == """\
node-a: 6 pods, 1 ready at 14:02:11 UTC
POD           READY  STATE             RESTARTS        PROBES
web           1/1    Running           0               L✓ R✓ S✓
deadlock      0/1    Running           2               L✗2/3 R✗3/3
  └ liveness, 10s ago: HTTP probe failed with statuscode: 500
  └ readiness, 10s ago: HTTP probe failed with statuscode: 500
crasher       0/1    CrashLoopBackOff  3, next in 28s
  └ exit 1, 12s ago: Error
slow-starter  0/1    Starting          0               L· S✗4/30
  └ startup, 10s ago: Get "http://127.8.0.4:8080/h….8.0.4:8080: connect: refused
two           2/2    Running           0
  app         1/1    Running           0               R✓1/3
  proxy       1/1    Running           0               L✓
  migrate     0/1    Completed         0
job           0/1    Error (exit 137)  0
  └ exit 137: Killed
"""
    )


async def test_json_is_the_status_document(service: Service) -> None:
    ended = await service.ask("status", "-o", "json")
    assert (ended.code, json.loads(ended.out)) == (0, SITUATIONS)


async def test_pods_are_chosen_by_either_name(service: Service) -> None:
    ended = await service.ask("status", "web", "default/job", "-o", "json")
    assert [found["name"] for found in json.loads(ended.out)["pods"]] == ["web", "job"]


async def test_an_unknown_pod_is_bad_input(service: Service) -> None:
    ended = await service.ask("status", "web", "nosuch", "shop/web")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[:2] == [
        'probelet status: there is no pod "nosuch"',
        'probelet status: there is no pod "shop/web"',
    ]


async def test_an_empty_node_is_one_line(service: Service) -> None:
    service.view.document = document()
    assert (await service.ask("status")).out == "node-a: 0 pods, 0 ready at 14:02:11 UTC\n"


async def test_namespaces_are_shown_when_one_is_not_the_default(service: Service) -> None:
    service.view.document = document(pod("web", container()), pod("cart", container(), namespace="shop"))
    out = (await service.ask("status")).out
    assert "default/web " in out
    assert "shop/cart " in out


class Clock:
    """A clock that ``sleep`` advances; each ``sleep`` also changes the node."""

    def __init__(self, service: Service, looks: list[dict[str, Any]]) -> None:
        self.now = 100.0
        self.service = service
        self.looks = looks

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.service.view.document = self.looks.pop(0)


async def test_watching_into_a_pipe_prints_one_document_per_look(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [document(node=f"node-{number}") for number in range(3)]
    service.view.document = looks.pop(0)
    monkeypatch.setattr(watch_module, "time", Clock(service, looks))
    ended = await service.ask("status", "--watch", "--duration", "1.5s", "-o", "json")
    assert ended.code == 0
    assert [json.loads(line)["node"] for line in ended.out.splitlines()] == ["node-0", "node-1", "node-2"]


async def test_watching_ends_with_the_service(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ends(Clock):
        def sleep(self, seconds: float) -> None:
            service.control.path.unlink()

    monkeypatch.setattr(watch_module, "time", Ends(service, []))
    ended = await service.ask("status", "--watch")
    assert ended.code == 3
    assert "no probelet runs in" in ended.err


def test_watching_uses_the_monotonic_clock() -> None:
    assert watch_module.time is time


async def test_a_pod_that_only_a_mistake_names_shows_its_mistake(service: Service) -> None:
    long = "x" * 200
    error = {"path": "m.yaml", "line": 3, "kind": "Pod", "namespace": "default", "field": "spec", "message": long}
    errors = [{**error, "name": name} for name in ("bad", "other", "")]
    service.view.document = document(*SITUATIONS["pods"], manifest_errors=errors, manifest_errors_total=3)
    ended = await service.ask("status", "bad")
    assert (ended.code, ended.out.splitlines()[1:]) == (0, [f"error: m.yaml:3: spec: {long}"])
    assert (await service.ask("status", "")).code == 2
