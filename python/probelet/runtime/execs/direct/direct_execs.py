"""Attempts that the helper carries out; each one that it cannot goes back to the runtime.

The engine gives the helper the attempts in containers that it knows, and this module makes them known. What comes here
is the first attempt of a container, what the helper has refused, and everything if a limit of exec attempts is set.
"""

import asyncio
import contextlib
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from probelet._rust import ExecRun
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.exec import OUTPUT_BYTES_MAX, ExecOutcome, timed_out
from probelet.runtime.execs.direct.containers import Containers, DirectEngine
from probelet.runtime.execs.direct.counts import DirectCounts
from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.filters import Filters
from probelet.runtime.execs.direct.helper_process import Helper
from probelet.runtime.execs.direct.message import (
    REQUEST_BYTES_MAX,
    Answer,
    Ended,
    Over,
    Refused,
    Stuck,
    TimedOut,
    refused,
    run,
)
from probelet.runtime.execs.turns import Turns

START_SECONDS: Final = 5.0
"""How long the start of the node waits for the helper."""

_PASSING: Final = frozenset({Reason.BUSY, Reason.PAUSED, Reason.PROGRAM, Reason.SETUP})
"""Refusals that say nothing of the container's description: it is used again."""

log = structlog.get_logger("probelet.execs.direct")


@dataclass(frozen=True, slots=True)
class _Lost:
    """The helper ended in mid attempt."""

    why: str


class DirectExecs:
    """Carries out attempts through one helper. Create it on the event loop that uses it; ``close`` ends it."""

    def __init__(self, client: RuntimeClient, program: Path) -> None:
        self.counts = DirectCounts()
        self.turns: Turns | None = None
        """The turns of attempts; a command that cannot be ended keeps one of them."""
        self._helper = Helper(program, self._take, self._lose, self._ready)
        self._containers = Containers(client, self._helper, Filters(program))
        self._engine: DirectEngine | None = None
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer | _Lost]] = {}
        # Commands that were killed and have not ended, by the number of their attempts.
        self._held: set[int] = set()
        self._said: set[Reason] = set()

    async def start(self) -> None:
        """Starts the helper and waits until it is ready or has said why it cannot be; a second is enough for either."""
        self._helper.start()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._helper.heard.wait(), START_SECONDS)
        self.counts.starts = self._helper.starts
        if self._helper.hello is None:
            log.error("exec probes go over the runtime: there is no helper", why=self._helper.why)
        else:
            log.info("exec probes enter containers directly")

    def share(self, engine: DirectEngine) -> None:
        """Lets ``engine`` give the helper attempts without a batch. Call it once."""
        self._engine = self._containers.engine = engine
        self.counts.by_engine = engine.direct_counts
        self._hand_over()

    async def close(self) -> None:
        """Ends the helper with every command in flight."""
        await self._helper.close()

    async def attempt(self, run: ExecRun) -> ExecOutcome | None:
        """Carries out an attempt; None if the runtime has to, because nothing was started."""
        try:
            outcome = await self._attempt(run)
        except FallbackError as error:
            self._fall_back(run.container_id, error)
            return None
        self.counts.attempts += 1
        return outcome

    async def _attempt(self, run: ExecRun) -> ExecOutcome:
        if run.refusal is not None:
            found: Answer | _Lost = refused(run.run, run.refusal)
        else:
            found = await self._carried_out(run, await self._containers.described(run.container_id))
        match found:
            case Ended(_, code, stdout, stderr):
                return ExecOutcome("exit", code, (stdout + stderr)[:OUTPUT_BYTES_MAX])
            case TimedOut():
                return timed_out(run.argv, run.timeout_seconds)
            case Stuck():
                return ExecOutcome("error", -1, b"the program could not be started before its timeout")
            case Refused(_, reason, detail):
                if reason not in _PASSING:
                    self._containers.forget(run.container_id)
                raise FallbackError(reason, detail)
            case _Lost(why):
                return ExecOutcome("error", -1, f"the helper of exec probes was lost: {why}".encode())
        raise AssertionError(found)

    async def _carried_out(self, attempt: ExecRun, container: bytes) -> Answer | _Lost:
        number = next(self._ids)
        message = run(number, attempt.timeout_seconds, container, attempt.argv)
        future: asyncio.Future[Answer | _Lost] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            if len(message) > REQUEST_BYTES_MAX:
                raise FallbackError(Reason.SIZE, f"a request of {len(message)} bytes is above {REQUEST_BYTES_MAX}")
            if not self._helper.send(message):
                raise FallbackError(Reason.BUSY, "the helper's socket is full")
            self._helper.watch(True)
            return await future
        finally:
            del self._waiting[number]
            if not self._waiting:
                self._helper.watch(False)

    def _ready(self) -> None:
        self.counts.starts = self._helper.starts
        self._hand_over()

    def _hand_over(self) -> None:
        if self._engine is not None and self._helper.hello is not None:
            self._engine.use_helper(*self._helper.for_engine)

    def _take(self, answer: Answer) -> None:
        match answer:
            case Over(number) if number in self._held:
                self._held.discard(number)
                self._drop_turns(1)
            case TimedOut(number) | Stuck(number):
                self._held.add(number)
                if self.turns is not None:
                    self.turns.keep()
                self._answer(number, answer)
            case Ended(id=number) | Refused(id=number):
                self._answer(number, answer)

    def _answer(self, number: int, answer: Answer) -> None:
        future = self._waiting.get(number)
        if future is not None and not future.done():
            future.set_result(answer)

    def _lose(self, why: str) -> None:
        self.counts.starts = self._helper.starts
        self._containers.clear()
        if self._engine is not None:
            self._engine.lose_helper(why)
        # What a lost helper left running gets SIGKILL from the kernel, and nobody could say when it has ended.
        self._drop_turns(len(self._held))
        self._held.clear()
        for future in self._waiting.values():
            if not future.done():
                future.set_result(_Lost(why))

    def _drop_turns(self, count: int) -> None:
        if self.turns is not None:
            for _ in range(count):
                self.turns.drop()

    def _fall_back(self, container_id: str, error: FallbackError) -> None:
        self.counts.fallbacks[error.reason] += 1
        if error.reason not in self._said:
            self._said.add(error.reason)
            log.warning(
                "exec probes go over the runtime; said once for each reason",
                reason=str(error.reason),
                detail=error.detail,
                container_id=container_id,
            )
