"""Exec attempts: ExecSync on the runtime, the answers handed back to the engine in batches.

By default as in the kubelet: everything at once, and the client waits two minutes longer than the probe's timeout. Each
of ``ExecLimits`` is an opt-in.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from probelet._rust import ExecRun
from probelet.cri.client import RuntimeClient
from probelet.cri.exec import ExecOutcome, exec_attempt, timed_out
from probelet.node.overdue import Overdue
from probelet.node.runtime.facts import bare_id
from probelet.node.tasks import Tasks

Finished = tuple[int, Literal["exit", "starved", "timeout", "error"], int, bytes]

HANG_SECONDS_MAX: Final = 3600.0
"""With single flight a call is kept open to see its end. One that hangs for an hour is given up: its runtime has lost
it, and its worker is not to wait for ever."""


class Sink(Protocol):
    """The part of ``Engine`` that takes the answers."""

    def finish_execs(self, finished: list[Finished]) -> None: ...


@dataclass(frozen=True, slots=True)
class ExecLimits:
    """The opt-ins of ``ProbeletConfiguration``; the defaults are the kubelet's behaviour."""

    single_flight: bool = False
    """Never start a run of a worker while an earlier one still hangs in the runtime."""
    max_in_flight: int | None = None
    """Runs of the whole node at once; others wait their turn, first come, first served."""
    client_deadline: float | None = None
    """Seconds after its own timeout at which a run is given up. None: the client's request timeout."""
    starved_share: float = 0.5
    """A run that we give up while our own loop is late by more than this share of the wait is starved."""


@dataclass(slots=True)
class ExecCounts:
    """What waits, and what has waited."""

    in_flight: int = 0
    """Attempts that wait for the runtime's answer."""
    waiting: int = 0
    """Attempts that wait for their turn (``max_in_flight``)."""
    hanging: int = 0
    """Calls that were given up and that the runtime has not ended (``single_flight``)."""
    waited: int = 0
    """Attempts that have had to wait for their turn."""
    waited_seconds: float = 0.0
    """For how long, all together."""
    held_back: int = 0
    """Attempts that were never started because an earlier one still hung (``single_flight``)."""


class Execs:
    """Runs what the engine asks for; the engine has one attempt in flight per worker."""

    def __init__(self, client: RuntimeClient, sink: Sink, tasks: Tasks, limits: ExecLimits | None = None) -> None:
        self.counts = ExecCounts()
        self._client = client
        self._sink = sink
        self._tasks = tasks
        self._limits = limits = limits or ExecLimits()
        self._turns = None if limits.max_in_flight is None else asyncio.Semaphore(limits.max_in_flight)
        # Calls that were given up, by worker of one container instance.
        self._hanging: dict[tuple[str, str], asyncio.Future[ExecOutcome]] = {}
        self._finished: list[Finished] = []
        self._overdue = Overdue()

    def start(self, runs: list[ExecRun]) -> None:
        """Begin these attempts."""
        for run in runs:
            self._tasks.spawn(self._run(run))

    async def _run(self, run: ExecRun) -> None:
        outcome = await self._in_turn(run)
        if not self._finished:
            # One call for all attempts that end in this turn of the loop.
            asyncio.get_running_loop().call_soon(self._flush)
        self._finished.append((run.run, outcome.kind, outcome.exit_code, outcome.output))

    def _flush(self) -> None:
        finished, self._finished = self._finished, []
        self._sink.finish_execs(finished)

    async def _in_turn(self, run: ExecRun) -> ExecOutcome:
        """The wait for a turn is the node's affair: it takes nothing from the probe's timeout."""
        if self._turns is None:
            return await self._attempt(run)
        if self._turns.locked():
            asked = time.monotonic()
            self.counts.waiting += 1
            try:
                await self._turns.acquire()
            finally:
                self.counts.waiting -= 1
            self.counts.waited += 1
            self.counts.waited_seconds += time.monotonic() - asked
        else:
            await self._turns.acquire()
        try:
            return await self._attempt(run)
        finally:
            self._turns.release()

    async def _attempt(self, run: ExecRun) -> ExecOutcome:
        self.counts.in_flight += 1
        patience, began, before = self._patience(run), time.monotonic(), self._overdue.begin()
        try:
            if self._limits.single_flight:
                outcome = await self._alone(run, patience)
            else:
                outcome = await self._call(run, None if self._limits.client_deadline is None else patience)
            spent, overdue = time.monotonic() - began, self._overdue.total() - before
            return judged(outcome, patience=patience, spent=spent, overdue=overdue, share=self._limits.starved_share)
        finally:
            self._overdue.end()
            self.counts.in_flight -= 1

    def _patience(self, run: ExecRun) -> float:
        """Seconds after which a run is a timeout, whatever the runtime does."""
        deadline = self._limits.client_deadline
        return run.timeout_seconds + (self._client.request_timeout if deadline is None else deadline)

    async def _call(self, run: ExecRun, deadline: float | None) -> ExecOutcome:
        container_id = bare_id(run.container_id)
        return await exec_attempt(self._client, container_id, run.argv, run.timeout_seconds, deadline=deadline)

    async def _alone(self, run: ExecRun, patience: float) -> ExecOutcome:
        """Wait for the earlier call of this worker first, then for this one; what takes too long is a timeout."""
        worker = (run.container_id, run.probe_type)
        begun = time.monotonic()
        earlier = self._hanging.get(worker)
        if earlier is not None:
            await asyncio.wait([earlier], timeout=patience)
            if not earlier.done():
                self.counts.held_back += 1
                return timed_out(run.argv, run.timeout_seconds)
        call: asyncio.Future[ExecOutcome] = asyncio.get_running_loop().create_future()
        self._tasks.spawn(self._kept_open(run, call))
        await asyncio.wait([call], timeout=max(0.0, patience - (time.monotonic() - begun)))
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


def judged(outcome: ExecOutcome, *, patience: float, spent: float, overdue: float, share: float) -> ExecOutcome:
    """Whose fault a timeout is: one that the runtime tells is the command's, one that we find ourselves, after
    ``patience`` seconds, is ours if our loop was late by more than this share of them."""
    if outcome.kind == "timeout" and spent >= patience and overdue > share * patience:
        return replace(outcome, kind="starved")
    return outcome
