"""One worker's state as the engine reports it, and the part of the status document made from it."""

from typing import Final

import msgspec

from probelet._rust import Engine
from probelet.base.exposition.timestamp import rfc3339
from probelet.server.document.status import (
    AttemptDocument,
    HistoryDocument,
    OptionsDocument,
    ProbeDocument,
    RunDocument,
)


class LastRun(msgspec.Struct):
    """The last finished run of a worker."""

    at_ms: int
    outcome: str
    cause: str
    message: str
    duration_ms: float
    lateness_ms: float
    overdue_ms: float


class PastAttempt(msgspec.Struct):
    """An attempt of a worker's history."""

    at_ms: int
    outcome: str
    cause: str
    duration_ms: float
    lateness_ms: float


class PastFailure(PastAttempt):
    """A failed attempt of a worker's history."""

    message: str


class History(msgspec.Struct):
    """The last attempts of a worker, and its last failures, oldest first."""

    attempts: list[PastAttempt]
    failures: list[PastFailure]


class WorkerState(msgspec.Struct):
    """One row of ``Engine.probe_states``."""

    pod_uid: str
    container: str
    type: str
    handler: str
    container_id: str
    result: str | None
    result_run: int
    failure_threshold: int
    success_threshold: int
    on_hold: bool
    runs: int
    failures: int
    errors: int
    next_at_ms: int | None
    last: LastRun | None
    options: OptionsDocument | None = None
    history: History | None = None


_WORKERS: Final = msgspec.json.Decoder(list[WorkerState])


def workers(engine: Engine, uid: str, history: int = 0) -> list[WorkerState]:
    """The state of every worker of a pod, with as many of its last attempts as ``history`` says."""
    return _WORKERS.decode(engine.probe_states(uid, history))


def probe_document(worker: WorkerState) -> ProbeDocument:
    """The status document's entry for a probe that has a worker."""
    document: ProbeDocument = {
        "handler": worker.handler,
        "result": worker.result,
        "result_run": worker.result_run,
        "failure_threshold": worker.failure_threshold,
        "success_threshold": worker.success_threshold,
        "on_hold": worker.on_hold,
        "runs": worker.runs,
        "failures": worker.failures,
        "errors": worker.errors,
        "next_at": None if worker.next_at_ms is None else rfc3339(worker.next_at_ms),
        "last": None if worker.last is None else _last_run(worker.last),
    }
    if worker.options is not None:
        document["options"] = worker.options
    if worker.history is not None:
        document["history"] = _history(worker.history)
    return document


def _history(history: History) -> HistoryDocument:
    return {
        "attempts": [_attempt(attempt) for attempt in history.attempts],
        "failures": [{**_attempt(failure), "message": failure.message} for failure in history.failures],
    }


def _attempt(attempt: PastAttempt) -> AttemptDocument:
    return {
        "at": rfc3339(attempt.at_ms),
        "outcome": attempt.outcome,
        "cause": attempt.cause,
        "duration_ms": attempt.duration_ms,
        "lateness_ms": attempt.lateness_ms,
    }


def _last_run(last: LastRun) -> RunDocument:
    return {
        "at": rfc3339(last.at_ms),
        "outcome": last.outcome,
        "cause": last.cause,
        "message": last.message,
        "duration_ms": last.duration_ms,
        "lateness_ms": last.lateness_ms,
        "overdue_ms": last.overdue_ms,
    }
