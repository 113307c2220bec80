"""Exec attempts: handed to the caller that carries them out, or to the runtime behind a CRI endpoint."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final, Literal, Protocol

import structlog

from probelet._rust import Engine, ExecRun
from probelet.cri.client import RuntimeClient
from probelet.cri.exec import OUTPUT_BYTES_MAX, exec_attempt
from probelet.service.limit import ANSWER_SECONDS
from probelet.service.results import PROBE_TYPES
from probelet.service.v1 import prober_pb2

NOBODY: Final = "no caller carries out exec probes"
GONE: Final = "the caller that carries out exec probes has gone"
LATE: Final = "the caller that carries out exec probes did not answer"

Finished = tuple[int, Literal["exit", "starved", "timeout", "error"], int, bytes]

log = structlog.get_logger("probelet.service")


class Execs(Protocol):
    """Who carries out exec attempts."""

    def start(self, runs: list[ExecRun]) -> None: ...


class RuntimeExecs:
    """ExecSync on a runtime, as a kubelet does it."""

    def __init__(self, client: RuntimeClient, engine: Engine) -> None:
        self._client = client
        self._engine = engine
        self._tasks: set[asyncio.Task[None]] = set()
        self._finished: list[Finished] = []

    def start(self, runs: list[ExecRun]) -> None:
        """Begin these attempts."""
        for run in runs:
            task = asyncio.ensure_future(self._run(run))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, run: ExecRun) -> None:
        container_id = run.container_id.partition("://")[2]
        outcome = await exec_attempt(self._client, container_id, run.argv, run.timeout_seconds)
        if not self._finished:
            # One call for all attempts that end in this turn of the loop.
            asyncio.get_running_loop().call_soon(self._flush)
        self._finished.append((run.run, outcome.kind, outcome.exit_code, outcome.output))

    def _flush(self) -> None:
        finished, self._finished = self._finished, []
        self._engine.finish_execs(finished)


class CallerExecs:
    """The back-channel: the caller that attached last is asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asked: asyncio.Queue[ExecRun] | None = None
        # What waits for an answer, by run: its limit, and whom it was asked of.
        self._open: dict[int, tuple[asyncio.TimerHandle, asyncio.Queue[ExecRun]]] = {}

    def start(self, runs: list[ExecRun]) -> None:
        """Ask for these attempts; without a caller they are errors at once."""
        if self._asked is None:
            self._engine.finish_execs([_error(run.run, NOBODY) for run in runs])
            return
        loop = asyncio.get_running_loop()
        for run in runs:
            limit = loop.call_later(run.timeout_seconds + ANSWER_SECONDS, self._finish, _error(run.run, LATE))
            self._open[run.run] = (limit, self._asked)
            self._asked.put_nowait(run)

    async def serve(self, answers: AsyncIterator[Any]) -> AsyncIterator[prober_pb2.ExecAttempt]:
        """One caller's stream, until either side ends it; attempts it has not answered are errors then."""
        asked: asyncio.Queue[ExecRun] = asyncio.Queue()
        self._asked = asked
        log.info("a caller carries out exec probes")
        reading = asyncio.ensure_future(self._read(answers))
        try:
            while True:
                taking = asyncio.ensure_future(asked.get())
                await asyncio.wait((taking, reading), return_when=asyncio.FIRST_COMPLETED)
                if not taking.done():
                    taking.cancel()
                    return
                yield _message(taking.result())
        finally:
            reading.cancel()
            if self._asked is asked:
                self._asked = None
            for run in [run for run, (_, of) in self._open.items() if of is asked]:
                self._finish(_error(run, GONE))
            log.info("a caller carries out exec probes no more")

    async def _read(self, answers: AsyncIterator[Any]) -> None:
        async for answer in answers:
            kind = answer.WhichOneof("outcome")
            if kind == "exit":
                self._finish((answer.run, "exit", answer.exit.code, answer.exit.output[:OUTPUT_BYTES_MAX]))
            elif kind == "timeout":
                self._finish((answer.run, "timeout", -1, answer.timeout.encode()[:OUTPUT_BYTES_MAX]))
            else:
                self._finish((answer.run, "error", -1, answer.error.encode()[:OUTPUT_BYTES_MAX]))

    def _finish(self, finished: Finished) -> None:
        """Hand an attempt back once; what nobody waits for any more is ignored."""
        if found := self._open.pop(finished[0], None):
            found[0].cancel()
            self._engine.finish_execs([finished])


def _error(run: int, text: str) -> Finished:
    return run, "error", -1, text.encode()


def _message(run: ExecRun) -> prober_pb2.ExecAttempt:
    return prober_pb2.ExecAttempt(
        run=run.run,
        pod_uid=run.pod_uid,
        container=run.container,
        probe_type=PROBE_TYPES[run.probe_type],
        container_id=run.container_id,
        argv=run.argv,
        timeout_seconds=run.timeout_seconds,
    )
