"""Exec attempts that the caller carries out: the stream ``CarryOutExecs``."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import structlog

from probelet._rust import Engine, ExecEnd, ExecRun
from probelet.base.exposition.paced_log import PacedLog
from probelet.runtime.cri.exec import OUTPUT_BYTES_MAX
from probelet.service.error import RequestError
from probelet.service.limit import ANSWER_SECONDS, READERS_MAX
from probelet.service.results import PROBE_TYPES
from probelet.service.v1 import prober_pb2

NOBODY: Final = "no caller carries out exec probes"
GONE: Final = "the caller that carries out exec probes has gone"
LATE: Final = "the caller that carries out exec probes did not answer"

log = structlog.get_logger("probelet.service")

# The attempts for one caller; None ends its stream.
_Asked = asyncio.Queue[ExecRun | None]


class CallerExecs:
    """Asks the caller whose open stream is the newest. Each attempt gets exactly one answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # One queue for each caller, in the order in which they came.
        self._callers: list[_Asked] = []
        # The attempts without an answer, by run: the timer that gives up the attempt, and the queue of its caller. The
        # timer is the event loop's, because an attempt in flight keeps its time when the engine's clocks are put
        # forward.
        self._open: dict[int, tuple[asyncio.TimerHandle, _Asked]] = {}
        self._came = PacedLog(log.info, "a caller carries out exec probes")
        self._left = PacedLog(log.info, "a caller no longer carries out exec probes")

    def start(self, runs: list[ExecRun]) -> None:
        """Asks for these attempts; without a caller they are errors at once."""
        if not self._callers:
            self._engine.finish_execs([_error(run.run, NOBODY) for run in runs])
            return
        loop, asked = asyncio.get_running_loop(), self._callers[-1]
        for run in runs:
            limit = loop.call_later(run.timeout_seconds + ANSWER_SECONDS, self._finish, _error(run.run, LATE))
            self._open[run.run] = (limit, asked)
            asked.put_nowait(run)

    async def serve(self, answers: AsyncIterator[prober_pb2.ExecAnswer]) -> AsyncIterator[prober_pb2.ExecAttempt]:
        """Serves one caller's stream until either side ends it. Attempts without an answer are errors then.

        Raises RequestError for an answer that cannot be read, and for one stream too many.
        """
        if len(self._callers) >= READERS_MAX:
            raise RequestError("RESOURCE_EXHAUSTED", f"{READERS_MAX} streams of this kind are open already")
        asked = _Asked()
        self._callers.append(asked)
        self._came(callers=len(self._callers))
        reading = asyncio.ensure_future(self._read(answers, asked))
        reading.add_done_callback(lambda _: asked.put_nowait(None))
        try:
            while (run := await asked.get()) is not None:
                yield _message(run)
            if isinstance(error := _failure(reading), RequestError):
                raise error
        finally:
            self._callers.remove(asked)
            reading.add_done_callback(_failure)
            reading.cancel()
            for run_id in [run_id for run_id, (_, of) in self._open.items() if of is asked]:
                self._finish(_error(run_id, GONE))
            self._left(callers=len(self._callers))

    async def _read(self, answers: AsyncIterator[prober_pb2.ExecAnswer], asked: _Asked) -> None:
        async for answer in answers:
            if answer.run not in self._open or self._open[answer.run][1] is not asked:
                # A second answer, or one to an attempt that this caller was not asked for.
                continue
            kind = answer.WhichOneof("outcome")
            if kind == "exit":
                self._finish(ExecEnd.exit(answer.run, answer.exit.code, answer.exit.output[:OUTPUT_BYTES_MAX]))
            elif kind == "timeout":
                self._finish(ExecEnd.timeout(answer.run, answer.timeout.encode()[:OUTPUT_BYTES_MAX]))
            else:
                self._finish(ExecEnd.error(answer.run, answer.error.encode()[:OUTPUT_BYTES_MAX]))

    def _finish(self, finished: ExecEnd) -> None:
        """Hands an attempt back."""
        limit, _ = self._open.pop(finished.run)
        limit.cancel()
        self._engine.finish_execs([finished])


def _failure(reading: "asyncio.Future[None]") -> BaseException | None:
    """The error of a reader that has ended. asyncio would log one that nobody looks at."""
    return None if reading.cancelled() else reading.exception()


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
