"""Exec attempts of the engine as ExecSync calls, with their answers handed back in batches.

By default as in the kubelet: all attempts at once, and the client waits two minutes longer than the probe's timeout.
Each field of ``ExecLimits`` is an opt-in.

An attempt in flight is timed on the event loop's clock, because its deadlines are timers of the loop and of the gRPC
library: putting the engine's clocks forward (``Engine.advance``) leaves attempts in flight as much time as before.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

import structlog

from probelet._rust import ExecEnd, ExecRun
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.exec import OUTPUT_BYTES_MAX, ExecOutcome, exec_attempt, timed_out
from probelet.runtime.execs.counts import ExecCounts
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.end import exec_end
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.overdue import Overdue, judged
from probelet.runtime.execs.turns import Turns
from probelet.spec.text.container_id import bare_id

HANG_SECONDS_MAX: Final = 3600.0
"""With single flight a call stays open so that its end is seen. A call that hangs for an hour is given up, because the
runtime has lost it and its worker must not wait for ever."""

log = structlog.get_logger("probelet.execs")


class ExecEngine(Protocol):
    """The part of ``Engine`` that takes answers and tells the time."""

    def now(self) -> int: ...
    def finish_execs(self, finished: list[ExecEnd]) -> None: ...


class RuntimeExecs:
    """Carries out the attempts that the engine hands out, at most one per worker at a time.

    With ``direct``, the runtime gets only the attempts that the helper does not carry out; ``close`` closes it too.
    ``runtime_id`` makes the runtime's own ID of a container's ID in the engine.
    Create it on the event loop that uses it.
    """

    def __init__(
        self,
        client: RuntimeClient,
        engine: ExecEngine,
        limits: ExecLimits | None = None,
        direct: DirectExecs | None = None,
        *,
        runtime_id: Callable[[str], str] = bare_id,
    ) -> None:
        self.counts = ExecCounts() if direct is None else ExecCounts(direct=direct.counts)
        self._client = client
        self._direct = direct
        self._runtime_id = runtime_id
        self._engine = engine
        self._limits = limits = limits or ExecLimits()
        self._turns = None if limits.max_in_flight is None else Turns(limits.max_in_flight)
        if direct is not None:
            direct.turns = self._turns
        self._tasks: set[asyncio.Task[None]] = set()
        # Calls that were given up, by container ID and probe type.
        self._hanging: dict[tuple[str, str], asyncio.Future[ExecOutcome]] = {}
        self._finished: list[ExecEnd] = []
        self._is_closed = False
        self._loop_time = asyncio.get_running_loop().time
        self._overdue = Overdue(self._loop_time)
        # The unexpected failure that the log named last.
        self._logged = ""

    def start(self, runs: list[ExecRun]) -> None:
        """Begins these attempts; after ``close`` none."""
        if self._is_closed:
            return
        for run in runs:
            self._spawn(self._run(run))

    async def close(self) -> None:
        """Cancels the calls in flight and waits for them; their attempts get no answer."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._direct is not None:
            await self._direct.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, run: ExecRun) -> None:
        outcome = await self._in_turn(run)
        if not self._finished:
            # One call of the engine for all attempts that end in this turn of the loop.
            asyncio.get_running_loop().call_soon(self._flush)
        self._finished.append(exec_end(run.run, outcome))

    def _flush(self) -> None:
        finished, self._finished = self._finished, []
        self._engine.finish_execs(finished)

    async def _in_turn(self, run: ExecRun) -> ExecOutcome:
        """The wait for a turn takes nothing from the probe's timeout, because ``max_in_flight`` is the node's limit."""
        if self._turns is None:
            return await self._attempt(run)
        if self._turns.are_taken():
            asked = self._engine.now()
            self.counts.waiting += 1
            try:
                await self._turns.take()
            finally:
                self.counts.waiting -= 1
            self.counts.waited += 1
            self.counts.waited_ns += self._engine.now() - asked
        else:
            await self._turns.take()
        try:
            return await self._attempt(run)
        finally:
            self._turns.give_back()

    async def _attempt(self, run: ExecRun) -> ExecOutcome:
        self.counts.in_flight += 1
        patience, began = self._patience(run), self._loop_time()
        before = self._overdue.begin(began)
        try:
            if self._limits.single_flight:
                outcome = await self._alone(run, patience)
            else:
                outcome = await self._call(run, None if self._limits.client_deadline is None else patience)
        finally:
            ended = self._loop_time()
            overdue = self._overdue.end(ended) - before
            self.counts.in_flight -= 1
        share = self._limits.starved_share
        return judged(outcome, patience=patience, spent=ended - began, overdue=overdue, share=share)

    def _patience(self, run: ExecRun) -> float:
        """Seconds after which an attempt is a timeout, whatever the runtime does."""
        deadline = self._limits.client_deadline
        return run.timeout_seconds + (self._client.request_timeout if deadline is None else deadline)

    async def _call(self, run: ExecRun, deadline: float | None) -> ExecOutcome:
        """Any failure that is no CRI error is a prober error too: an attempt without an answer would stop its worker
        for ever."""
        try:
            if self._direct is not None and (outcome := await self._direct.attempt(run)) is not None:
                return outcome
            container_id = self._runtime_id(run.container_id)
            return await exec_attempt(self._client, container_id, run.argv, run.timeout_seconds, deadline=deadline)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # The call was cancelled and its task was not: the client was closed under it.
            return self._unexpected(run, error)
        except Exception as error:
            return self._unexpected(run, error)

    def _unexpected(self, run: ExecRun, error: BaseException) -> ExecOutcome:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        if text != self._logged:
            self._logged = text
            log.error("exec attempt failed unexpectedly", container_id=run.container_id, error=text, exc_info=error)
        return ExecOutcome("error", -1, text.encode(errors="replace")[:OUTPUT_BYTES_MAX])

    async def _alone(self, run: ExecRun, patience: float) -> ExecOutcome:
        """Waits for the worker's earlier call first, then makes this one. Together they get ``patience`` seconds."""
        worker = (run.container_id, run.probe_type)
        began = self._loop_time()
        earlier = self._hanging.get(worker)
        if earlier is not None:
            await asyncio.wait([earlier], timeout=patience)
            if not earlier.done():
                self.counts.held_back += 1
                return timed_out(run.argv, run.timeout_seconds)
        call: asyncio.Future[ExecOutcome] = asyncio.get_running_loop().create_future()
        self._spawn(self._kept_open(run, call))
        await asyncio.wait([call], timeout=max(0.0, patience - (self._loop_time() - began)))
        if call.done():
            return call.result()
        self._hanging[worker] = call
        self.counts.hanging = len(self._hanging)
        call.add_done_callback(lambda _: self._ended(worker))
        return timed_out(run.argv, run.timeout_seconds)

    async def _kept_open(self, run: ExecRun, call: "asyncio.Future[ExecOutcome]") -> None:
        call.set_result(await self._call(run, HANG_SECONDS_MAX))

    def _ended(self, worker: tuple[str, str]) -> None:
        del self._hanging[worker]
        self.counts.hanging = len(self._hanging)
