"""Exec attempts cross to Python and back in batches; when ``finish_execs`` returns, the results are there."""

import json
import select

import pytest
from probelet._rust import Engine, ExecRun
from probelet.bench.pods import facts, pod, uid

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
    engine.finish_execs([(run.run, "exit", 0, b"") for run in runs])
    batch = engine.drain()
    assert [(update.pod_uid, update.result) for update in batch.updates] == [(uid(n), "Success") for n in range(PODS)]
    assert sorted(batch.syncs) == [uid(number) for number in range(PODS)]
    assert engine.result("readiness", runs[0].container_id) == "Success"


def test_an_attempt_that_errored_is_followed_by_the_next_try_at_once(engine: Engine, runs: list[ExecRun]) -> None:
    engine.finish_execs([(runs[1].run, "error", -1, b"no such container")])
    again = engine.drain().execs
    assert [run.pod_uid for run in again] == [uid(1)]
    assert again[0].run not in {run.run for run in runs}


def test_a_failure_is_an_event_with_its_output(engine: Engine, runs: list[ExecRun]) -> None:
    engine.finish_execs([(runs[2].run, "exit", 7, b"broken")])
    assert [event.message for event in engine.drain().events] == ["Readiness probe failed: broken"]


def test_an_answer_to_no_pending_attempt_is_ignored(engine: Engine, runs: list[ExecRun]) -> None:
    engine.finish_execs([(runs[0].run, "exit", 0, b""), (10**9, "exit", 0, b"")])
    engine.finish_execs([(runs[0].run, "exit", 1, b"late")])
    batch = engine.drain()
    assert (len(batch.updates), batch.events) == (1, [])


def test_an_answer_of_an_unknown_kind_is_refused_with_its_whole_batch(engine: Engine, runs: list[ExecRun]) -> None:
    with pytest.raises(ValueError, match="maybe"):
        engine.finish_execs([(runs[0].run, "exit", 0, b""), (runs[1].run, "maybe", 0, b"")])  # type: ignore[list-item]
    assert engine.drain().updates == []
