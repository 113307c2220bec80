"""One engine with many workers, whose mailbox is read as the node service reads it."""

import json
import select
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from probelet._rust import Batch, Engine

from tests.support.patience import PATIENCE_SECONDS

PERIOD_SECONDS = 1
FAILURE_THRESHOLD = 1
LOOK_AGAIN_SECONDS = 0.2


@dataclass(frozen=True)
class Worker:
    """A worker as the status document shows it."""

    pod: str
    runs: int
    failures: int
    errors: int
    result: str | None
    last: Mapping[str, Any]
    """The latest attempt; empty before the first one has ended."""


def pod(uid: str, handler: Mapping[str, Any], timeout_seconds: int) -> bytes:
    """A defaulted v1.Pod with one readiness probe."""
    probe = {
        **handler,
        "initialDelaySeconds": 0,
        "timeoutSeconds": timeout_seconds,
        "periodSeconds": PERIOD_SECONDS,
        "successThreshold": 1,
        "failureThreshold": FAILURE_THRESHOLD,
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": uid, "namespace": "default", "uid": uid},
            "spec": {"restartPolicy": "Always", "containers": [{"name": "app", "readinessProbe": probe}]},
        }
    ).encode()


def facts(uid: str) -> bytes:
    """The runtime's facts of a pod that runs."""
    app = {"name": "app", "id": f"process://{uid}", "state": "running", "started_at_ms": 1}
    return json.dumps({"phase": "Running", "pod_ip": "127.0.0.1", "containers": [app], "init_containers": []}).encode()


class ServedEngine:
    """An engine with pods of one readiness probe each."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, uid: str, handler: Mapping[str, Any], timeout_seconds: int = 1) -> None:
        self._engine.define_pod(pod(uid, handler, timeout_seconds))
        self._engine.sync_pod(uid, facts(uid))

    def remove(self, uid: str) -> None:
        self._engine.remove_pod(uid)

    def serve_until(self, done: Callable[[dict[str, Worker]], bool]) -> dict[str, Worker]:
        """Reads the mailbox at once, as the node service does, until ``done``; returns the workers at that moment."""
        return self._until(done, self._serve)

    def wait_until(self, done: Callable[[dict[str, Worker]], bool]) -> dict[str, Worker]:
        """Waits until ``done`` without reading the mailbox; returns the workers at that moment."""
        return self._until(done, time.sleep)

    def _until(self, done: Callable[[dict[str, Worker]], bool], spend: Callable[[float], None]) -> dict[str, Worker]:
        end = time.monotonic() + PATIENCE_SECONDS
        while not done(workers := self.workers()):
            assert time.monotonic() < end, f"waited in vain for {min(workers.values(), key=lambda found: found.runs)}"
            spend(LOOK_AGAIN_SECONDS)
        return workers

    def _serve(self, seconds: float) -> None:
        poll = select.poll()
        poll.register(self._engine.fileno(), select.POLLIN)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if poll.poll(left * 1000):
                self._engine.drain()

    def drain(self) -> Batch:
        return self._engine.drain()

    def workers(self) -> dict[str, Worker]:
        states = json.loads(self._engine.probe_states())
        return {
            state["pod_uid"]: Worker(
                state["pod_uid"],
                state["runs"],
                state["failures"],
                state["errors"],
                state["result"],
                state["last"] or {},
            )
            for state in states
        }


@contextmanager
def served_engine() -> Iterator[ServedEngine]:
    engine = Engine(seed=1, start_jitter=True)
    try:
        yield ServedEngine(engine)
    finally:
        engine.close()
