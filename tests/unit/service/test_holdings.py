"""What the service holds for callers is limited, however they add, change and remove pods."""

import json
from typing import Any

import pytest
from probelet._rust import Engine
from probelet.service.error import RequestError
from probelet.service.holdings import Holdings
from probelet.service.pod import CheckedPod, check_pod
from probelet.service.rules import KUBELETS

from tests.unit.service.caller import Caller, exec_probe, make_pod, running


class Workers:
    """Lists the workers of the pods in ``alive``."""

    def __init__(self) -> None:
        self.alive: dict[str, list[str]] = {}
        self.looks = 0
        self.seconds = 0

    def now(self) -> int:
        return self.seconds * 1_000_000_000

    def probe_states(self, uid: str | None = None) -> bytes:
        self.looks += 1
        names = self.alive.get(uid or "", [])
        return json.dumps([{"container": name, "type": "liveness", "more": 1} for name in names]).encode()


@pytest.fixture
def workers() -> Workers:
    return Workers()


@pytest.fixture
def holdings(workers: Workers) -> Holdings:
    return Holdings(workers)


def checked(uid: str, *names: str) -> CheckedPod:
    pod: dict[str, Any] = make_pod(uid)
    pod["spec"]["containers"] = [{"name": name, "livenessProbe": exec_probe()} for name in names]
    return check_pod(json.dumps(pod).encode(), KUBELETS)


def keep(holdings: Holdings, uid: str, *names: str) -> None:
    holdings.keep(uid, holdings.with_pod(uid, checked(uid, *names)))


def test_a_pod_counts_until_its_workers_have_ended(
    holdings: Holdings, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker in flight, with a timeout of years, keeps the object of a pod that was removed long ago."""
    monkeypatch.setattr("probelet.service.holdings.PODS_MAX", 2)
    workers.alive = {"a": ["app"], "b": ["app"]}
    for uid in ("a", "b"):
        keep(holdings, uid, "app")
        holdings.forget(uid)
    with pytest.raises(RequestError, match="2 pods are known already"):
        keep(holdings, "c", "app")
    del workers.alive["a"]
    with pytest.raises(RequestError):
        keep(holdings, "c", "app")
    workers.seconds += 1
    keep(holdings, "c", "app")
    assert holdings.known.keys() == {"c"}


def test_calls_that_are_refused_cost_one_look_a_second(
    holdings: Holdings, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probelet.service.holdings.PODS_MAX", 1)
    workers.alive = {"a": ["app"]}
    keep(holdings, "a", "app")
    holdings.forget("a")
    for _ in range(10):
        with pytest.raises(RequestError):
            keep(holdings, "b", "app")
    assert workers.looks == 1


def test_one_uid_cannot_gather_workers_of_ever_new_containers(
    holdings: Holdings, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probelet.service.holdings.CONTAINERS_MAX", 3)
    for number in range(3):
        keep(holdings, "a", f"c{number}")
        workers.alive["a"] = [f"c{number}" for number in range(number + 1)]
    with pytest.raises(RequestError, match="workers of 3 other containers"):
        keep(holdings, "a", "c3")
    keep(holdings, "a", "c1")
    workers.alive["a"] = []
    keep(holdings, "a", "c3")
    assert holdings.known["a"].probes == {("c3", "liveness")}


def test_bytes_are_limited_together_and_a_smaller_pod_is_always_taken(
    holdings: Holdings, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = checked("a", "app").bytes
    monkeypatch.setattr("probelet.service.holdings.HELD_BYTES_MAX", 4 * size + 10)
    keep(holdings, "a", "app")
    keep(holdings, "b", "app")
    with pytest.raises(RequestError, match="bytes already"):
        keep(holdings, "c", "app")
    with pytest.raises(RequestError, match="bytes already"):
        holdings.with_status("b", b"x" * 11, 1)
    holdings.keep("b", holdings.with_status("b", b"x" * 10, 1))
    keep(holdings, "b", "app")
    keep(holdings, "b")
    holdings.forget("a")
    workers.seconds += 1
    keep(holdings, "c", "app")


def test_containers_are_limited_together(holdings: Holdings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.service.holdings.HELD_CONTAINERS_MAX", 10)
    keep(holdings, "a", "x", "y")
    with pytest.raises(RequestError, match="containers already"):
        holdings.with_status("b", b"", 7)
    holdings.keep("b", holdings.with_status("b", b"", 6))


@pytest.mark.parametrize("rounds", [300])
async def test_pods_that_come_and_go_leave_nothing(caller: Caller, engine: Engine, rounds: int) -> None:
    for number in range(rounds):
        await caller.sync(make_pod(f"u{number}", livenessProbe=exec_probe()), running(f"test://{number}"))
        await caller.remove_pod(f"u{number}")
        await caller.remove_pod_status(f"u{number}")
    while await caller.results() or engine.probe_states() != b"[]":
        pass
    assert all(engine.status(f"u{number}") is None for number in range(rounds))
