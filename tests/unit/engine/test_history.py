"""What the engine tells of a worker's past: its last attempts, and the attempts that say something new."""

import json
import select
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from probelet._rust import Engine, ExecEnd, TurnRecord

SECOND = 1_000_000_000
UID = "uid-web"
POD = {
    "metadata": {"name": "web", "namespace": "shop", "uid": UID},
    "spec": {
        "containers": [
            {
                "name": "app",
                "livenessProbe": {
                    "exec": {"command": ["check"]},
                    "periodSeconds": 1,
                    "timeoutSeconds": 1,
                    "failureThreshold": 30,
                    "successThreshold": 1,
                },
            }
        ]
    },
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with closing(Engine(start_jitter=False)) as engine:
        yield engine


class Worker:
    """Answers the attempts of one worker, a period after each other."""

    def __init__(self, engine: Engine) -> None:
        self.turns: list[TurnRecord] = []
        self._execs: list[int] = []
        self._advanced = time.monotonic_ns()
        self._engine = engine
        engine.add_pod(json.dumps(POD).encode())
        running = {"name": "app", "id": "c://1", "state": "running", "started_at_ms": 0, "started": True}
        engine.set_pod_status(UID, json.dumps({"phase": "Running", "containers": [running]}).encode())

    def answers(self, *codes: int, output: bytes = b"") -> None:
        for code in codes:
            while not self._execs:
                select.select([self._engine], [], [], 30)
                self._drain()
            run = self._execs.pop(0)
            self._engine.finish_execs([ExecEnd.exit(run, code, output)])
            self._advance_to_the_next()
        self._drain()

    def _advance_to_the_next(self) -> None:
        """The engine's clock also goes by itself. With a whole period more each time, the attempts would be later and
        later, and the time of a late attempt is not judged."""
        now = time.monotonic_ns()
        self._engine.advance(max(0, SECOND - (now - self._advanced)))
        self._advanced = now

    def _drain(self) -> None:
        """The next attempt may have begun by now, so it is kept."""
        batch = self._engine.drain()
        self.turns += batch.turns
        self._execs += [each.run for each in batch.execs]


def history(engine: Engine, attempts: int = 64) -> dict[str, Any]:
    [state] = json.loads(engine.probe_states(UID, attempts))
    found: dict[str, Any] = state["history"]
    return found


def test_the_last_attempts_and_failures_of_a_worker(engine: Engine) -> None:
    Worker(engine).answers(0, 1, 0, output="d\u00e9j\u00e0 vu".encode())
    found = history(engine)
    assert [(attempt["outcome"], attempt["cause"]) for attempt in found["attempts"]] == [
        ("success", "ok"),
        ("failure", "exec_exit"),
        ("success", "ok"),
    ]
    [failure] = found["failures"]
    assert failure["message"] == "d\u00e9j\u00e0 vu"
    assert abs(failure["at_ms"] - found["attempts"][1]["at_ms"]) <= 32
    assert [attempt["outcome"] for attempt in history(engine, 1)["attempts"]] == ["success"]
    [state] = json.loads(engine.probe_states(UID))
    assert "history" not in state


def test_turns_are_the_first_attempt_each_change_and_bad_attempts_in_a_row(engine: Engine) -> None:
    engine.watch_turns()
    worker = Worker(engine)
    worker.answers(0, 0, 1, 1, 0, 0, output=b"x" * 1_000)
    said = [(turn.is_good, turn.cause) for turn in worker.turns]
    assert said == [(True, "ok"), (False, "exec_exit"), (False, "exec_exit"), (True, "ok")]
    _, _, bad, good = worker.turns
    assert (bad.pod_uid, bad.container, bad.probe_type) == (UID, "app", "liveness")
    assert (bad.message, good.message) == ("x" * 256, "")
    assert bad.at_ms <= good.at_ms <= engine.wall_ms()
    assert min(bad.lateness_ms, bad.overdue_ms) >= 0


def test_a_probe_that_goes_on_failing_turns_ten_times(engine: Engine) -> None:
    engine.watch_turns()
    worker = Worker(engine)
    worker.answers(*[1] * 13, 0)
    assert [turn.is_good for turn in worker.turns] == [*[False] * 10, True]


def test_nobody_pays_for_turns_that_nobody_reads(engine: Engine) -> None:
    worker = Worker(engine)
    worker.answers(0, 1, 0)
    assert worker.turns == []


def test_the_slowest_answer_of_a_whole_history_is_told_once_for_each(engine: Engine) -> None:
    worker = Worker(engine)
    worker.answers(*[0] * 63)
    assert engine.slowest_answers(10) == []
    worker.answers(1)
    assert engine.slowest_answers(0) == []
    [(uid, container, probe_type, took_ns)] = engine.slowest_answers(10)
    assert (uid, container, probe_type) == (UID, "app", "liveness")
    assert took_ns <= 30 * SECOND
    assert engine.slowest_answers(10) == []
    worker.answers(*[0] * 64)
    assert len(engine.slowest_answers(10)) == 1
