"""Exec attempts cross to Python and back in batches; when ``finish_execs`` returns, the results are there."""

import json
import select
from collections.abc import Callable

import pytest
from probelet._rust import Engine, ExecEnd, ExecRun
from probelet.lab.bench.pods import facts, pod, uid

PODS = 3
PERIOD_SECONDS = 3600


@pytest.fixture
def runs(engine: Engine) -> list[ExecRun]:
    """The first attempt of each pod."""
    for number in range(PODS):
        engine.define_pod(pod(number, "exec", 1, PERIOD_SECONDS))
        engine.sync_pod(uid(number), facts(number, "127.0.0.1"))
    found: list[ExecRun] = []
    poll = select.poll()
    poll.register(engine.fileno(), select.POLLIN)
    while len(found) < PODS:
        poll.poll()
        found += engine.drain().execs
    return sorted(found, key=lambda run: run.pod_uid)


def test_an_attempt_has_every_field_that_the_runtime_needs(runs: list[ExecRun]) -> None:
    first = runs[0]
    assert (first.pod_uid, first.container, first.probe_type) == (uid(0), "app", "readiness")
    assert first.container_id == json.loads(facts(0, ""))["containers"][0]["id"]
    assert (first.argv, first.timeout_seconds) == (["true"], 1)
    assert len({run.run for run in runs}) == PODS


def test_an_attempt_has_the_time_when_it_was_due(engine: Engine, runs: list[ExecRun]) -> None:
    assert all(0 < run.due_ns <= engine.now() for run in runs)


def test_results_are_there_when_the_engine_has_taken_the_answers(engine: Engine, runs: list[ExecRun]) -> None:
    engine.finish_execs([ExecEnd.exit(run.run, 0, b"") for run in runs])
    batch = engine.drain()
    assert [(update.pod_uid, update.result) for update in batch.updates] == [(uid(n), "Success") for n in range(PODS)]
    assert sorted(batch.syncs) == [uid(number) for number in range(PODS)]
    assert engine.result("readiness", runs[0].container_id) == "Success"


def test_an_attempt_that_errored_is_followed_by_the_next_try_at_once(engine: Engine, runs: list[ExecRun]) -> None:
    engine.finish_execs([ExecEnd.error(runs[1].run, b"no such container")])
    again = engine.drain().execs
    assert [run.pod_uid for run in again] == [uid(1)]
    assert again[0].run not in {run.run for run in runs}


def test_a_failure_is_an_event_with_its_output(engine: Engine, runs: list[ExecRun]) -> None:
    engine.finish_execs([ExecEnd.exit(runs[2].run, 7, b"broken")])
    assert [event.message for event in engine.drain().events] == ["Readiness probe failed: broken"]


def test_an_answer_to_no_pending_attempt_is_ignored(engine: Engine, runs: list[ExecRun]) -> None:
    engine.finish_execs([ExecEnd.exit(runs[0].run, 0, b""), ExecEnd.exit(10**9, 0, b"")])
    engine.finish_execs([ExecEnd.exit(runs[0].run, 1, b"late")])
    batch = engine.drain()
    assert (len(batch.updates), batch.events) == (1, [])


def test_an_answer_that_is_no_end_is_refused_with_its_whole_batch(engine: Engine, runs: list[ExecRun]) -> None:
    with pytest.raises(TypeError, match="ExecEnd"):
        engine.finish_execs([ExecEnd.exit(runs[0].run, 0, b""), (runs[1].run, 0, b"")])  # type: ignore[list-item]
    assert engine.drain().updates == []


@pytest.mark.parametrize(
    ("end", "cause", "events"),
    [
        (ExecEnd.exit, "exec_exit", ["Readiness probe failed: said"]),
        (ExecEnd.timeout, "exec_timeout", ["Readiness probe failed: said"]),
        (ExecEnd.starved, "starved", ["Readiness probe failed: said"]),
        (ExecEnd.error, "cri", []),
    ],
)
def test_each_end_has_its_cause(
    engine: Engine, runs: list[ExecRun], end: Callable[..., ExecEnd], cause: str, events: list[str]
) -> None:
    arguments = (1, b"said") if cause == "exec_exit" else (b"said",)
    engine.finish_execs([end(runs[0].run, *arguments)])
    [state] = json.loads(engine.probe_states(uid(0)))
    assert (state["last"]["cause"], state["last"]["message"]) == (cause, "said")
    assert [event.message for event in engine.drain().events] == events


def test_an_end_can_be_read() -> None:
    exited = ExecEnd.exit(2**64 - 1, -(2**31), b"out")
    assert (exited.run, exited.kind, exited.code, exited.output) == (2**64 - 1, "exit", -(2**31), b"out")
    texts = [ExecEnd.timeout(1, b"a"), ExecEnd.starved(2, b"b"), ExecEnd.error(3, b"c")]
    assert [(end.run, end.kind, end.code, end.output) for end in texts] == [
        (1, "timeout", None, b"a"),
        (2, "starved", None, b"b"),
        (3, "error", None, b"c"),
    ]
