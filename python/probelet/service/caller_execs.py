"""Exec attempts that the caller carries out: the stream ``CarryOutExecs``."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final, Protocol

import structlog

from probelet._rust import Engine, ExecEnd, ExecRun
from probelet.cri.exec import OUTPUT_BYTES_MAX
from probelet.service.limit import ANSWER_SECONDS
from probelet.service.results import PROBE_TYPES
from probelet.service.v1 import prober_pb2

NOBODY: Final = "no caller carries out exec probes"
GONE: Final = "the caller that carries out exec probes has gone"
LATE: Final = "the caller that carries out exec probes did not answer"

log = structlog.get_logger("probelet.service")


class Execs(Protocol):
    """Carries out exec attempts: ``CallerExecs`` or ``RuntimeExecs``."""

    def start(self, runs: list[ExecRun]) -> None: ...


class CallerExecs:
    """Asks the caller that opened its stream last. Each attempt gets exactly one answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._asked: asyncio.Queue[ExecRun] | None = None
        # The attempts without an answer, by run: the timer that gives up the attempt, and the queue of its caller. The
        # timer is the event loop's, because an attempt in flight keeps its time when the engine's clocks are put
        # forward.
        self._open: dict[int, tuple[asyncio.TimerHandle, asyncio.Queue[ExecRun]]] = {}

    def start(self, runs: list[ExecRun]) -> None:
        """Asks for these attempts; without a caller they are errors at once."""
        if self._asked is None:
            self._engine.finish_execs([_error(run.run, NOBODY) for run in runs])
            return
        loop = asyncio.get_running_loop()
        for run in runs:
            limit = loop.call_later(run.timeout_seconds + ANSWER_SECONDS, self._finish, _error(run.run, LATE))
            self._open[run.run] = (limit, self._asked)
            self._asked.put_nowait(run)

    async def serve(self, answers: AsyncIterator[Any]) -> AsyncIterator[prober_pb2.ExecAttempt]:
        """Serves one caller's stream until either side ends it. Attempts without an answer are errors then."""
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
            log.info("the caller no longer carries out exec probes")

    async def _read(self, answers: AsyncIterator[Any]) -> None:
        async for answer in answers:
            kind = answer.WhichOneof("outcome")
            if kind == "exit":
                self._finish(ExecEnd.exit(answer.run, answer.exit.code, answer.exit.output[:OUTPUT_BYTES_MAX]))
            elif kind == "timeout":
                self._finish(ExecEnd.timeout(answer.run, answer.timeout.encode()[:OUTPUT_BYTES_MAX]))
            else:
                self._finish(ExecEnd.error(answer.run, answer.error.encode()[:OUTPUT_BYTES_MAX]))

    def _finish(self, finished: ExecEnd) -> None:
        """Hands an attempt back once; a second answer, or one to an unknown attempt, is ignored."""
        if found := self._open.pop(finished.run, None):
            found[0].cancel()
            self._engine.finish_execs([finished])


def _error(run: int, text: str) -> ExecEnd:
    return ExecEnd.error(run, text.encode())


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
