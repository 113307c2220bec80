"""kubelet pkg/probe/exec/exec_test.go, 1.36: rows E1 to E6, and P12 of prober_test.go, from the ExecSync answer to the
result."""

import select
from typing import Any

import msgspec
import pytest
from probelet._rust import Batch, Engine
from probelet.runtime.cri import errors
from probelet.runtime.cri.exec import ExecOutcome, outcome_of_answer, outcome_of_error
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.execs.end import exec_end

from tests.kubelet.upstream.worker import ID, UID, exec_probe, pod

KIB = 1024


def answered(exit_code: int, stdout: bytes = b"", stderr: bytes = b"") -> ExecOutcome:
    return outcome_of_answer(api_pb2.ExecSyncResponse(exit_code=exit_code, stdout=stdout, stderr=stderr))


def next_batch(engine: Engine) -> Batch:
    assert select.select([engine.fileno()], [], [], 5)[0], "the engine says nothing"
    return engine.drain()


def state(engine: Engine) -> dict[str, Any]:
    found: list[dict[str, Any]] = msgspec.json.decode(engine.probe_states(UID))
    return found[0]


def answer(*outcomes: ExecOutcome) -> tuple[str | None, list[str]]:
    """Answers the attempts of a live engine's liveness run with ``outcomes``; returns its result and events.

    The container is older than the engine, so only a run publishes a result.
    """
    engine = Engine(start_jitter=False)
    try:
        probe = exec_probe(periodSeconds=3600)
        body = pod(containers=[{"name": "main", "livenessProbe": probe}])
        status = {"name": "main", "id": ID, "state": "running", "started_at_ms": 0, "started": True}
        engine.set_pod_status(UID, msgspec.json.encode({"phase": "Running", "containers": [status]}))
        engine.add_pod(body)
        events: list[str] = []
        waiting = list(outcomes)
        while waiting or not state(engine)["runs"]:
            batch = next_batch(engine)
            events += [event.message for event in batch.events]
            for run in batch.execs:
                outcome = waiting.pop(0)
                engine.finish_execs([exec_end(run.run, outcome)])
        events += [event.message for event in engine.drain().events]
        return engine.result("liveness", ID), events
    finally:
        engine.close()


LONG = b"logs:" + b"x" * 11 * KIB
TIMEOUT = 'command timed out: "probe" timed out after 1s'


@pytest.mark.parametrize(
    ("outcomes", "result", "events"),
    [
        pytest.param([answered(0, b"OK")], "Success", [], id="E1-success"),
        pytest.param([answered(0, b"OK")], "Success", [], id="E2-exit error with status 0"),
        pytest.param([answered(1, LONG)], "Failure", [f"Liveness probe failed: {LONG[: 10 * KIB].decode()}"], id="E3"),
        pytest.param(
            [outcome_of_error(errors.RuntimeRefused("test error"), ["probe"], 1)] * 3,
            None,
            ["Liveness probe errored and resulted in unknown state: rpc error: code = Unknown desc = test error"],
            id="E4-any other error, thrice",
        ),
        pytest.param([answered(1, b"Fail")], "Failure", ["Liveness probe failed: Fail"], id="E5-exit 1"),
        pytest.param(
            [outcome_of_error(errors.DeadlineExceeded("command timed out"), ["probe"], 1)],
            "Failure",
            [f"Liveness probe failed: {TIMEOUT}"],
            id="E6-timeout",
        ),
        pytest.param(
            [answered(1, b"foo", b"bar")], "Failure", ["Liveness probe failed: foobar"], id="P12-stdout and stderr"
        ),
        pytest.param(
            [answered(1, b"o" * 10 * KIB, b"bar")],
            "Failure",
            [f"Liveness probe failed: {'o' * 10 * KIB}"],
            id="P12-limit",
        ),
    ],
)
def test_an_exec_answer_gives_the_result_and_event_of_the_kubelet(
    outcomes: list[ExecOutcome], result: str, events: list[str]
) -> None:
    assert answer(*outcomes) == (result, events)


@pytest.mark.parametrize("output", [pytest.param(LONG, id="E3-success keeps the first 10 KiB")])
def test_the_output_of_an_exec_keeps_its_first_10_kib(output: bytes) -> None:
    assert answered(0, output).output == output[: 10 * KIB]
