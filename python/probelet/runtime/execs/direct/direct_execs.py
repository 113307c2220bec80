"""Attempts that the helper carries out; each one that it cannot goes back to the runtime.

The engine speaks with the helper, and enters containers that it knows without being asked; this module makes them
known. What comes here is the first attempt of a container, what the helper has refused, and everything if a limit of
exec attempts is set.
"""

import asyncio
import contextlib
from pathlib import Path
from typing import Final

import structlog

from probelet._rust import EnteredExec, ExecRun
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.exec import ExecOutcome
from probelet.runtime.execs.direct.containers import Containers, DirectEngine
from probelet.runtime.execs.direct.counts import DirectCounts
from probelet.runtime.execs.direct.fallback import FallbackError, Reason, refused
from probelet.runtime.execs.direct.filters import Filters
from probelet.runtime.execs.direct.helper_process import Helper
from probelet.runtime.execs.turns import Turns

START_SECONDS: Final = 5.0
"""How long the start of the node waits for the helper."""

_PASSING: Final = frozenset(
    {
        Reason.BUSY,
        Reason.HELPER,
        Reason.PAUSED,
        Reason.PROGRAM,
        Reason.SETUP,
        Reason.SIZE,
        Reason.SPECIFICATION,
        Reason.STUCK,
    }
)
"""Refusals that say nothing of the container's description: it is used again."""

log = structlog.get_logger("probelet.execs.direct")


class DirectExecs:
    """Carries out attempts through one helper. Create it on the event loop that uses it; ``close`` ends it."""

    def __init__(self, client: RuntimeClient, program: Path) -> None:
        self.counts = DirectCounts()
        self.turns: Turns | None = None
        """The turns of attempts; a command that cannot be ended keeps one of them."""
        self._helper = Helper(program, self._ready, self._lose)
        self._filters = Filters(program)
        self._containers = Containers(client, self._helper, self._filters)
        self._engine: DirectEngine | None = None
        self._waiting: dict[int, asyncio.Future[EnteredExec]] = {}
        # Commands that were killed and have not ended, by the number of their attempts.
        self._held: set[int] = set()
        self._said: set[Reason] = set()

    async def start(self) -> None:
        """Starts the helper and waits until it is ready or has said why it cannot be; a second is enough for either."""
        self._helper.start()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._helper.heard.wait(), START_SECONDS)
        self.counts.starts = self._helper.starts
        if self._helper.bounds is None:
            log.error("exec probes go over the runtime: there is no helper", why=self._helper.why)
        else:
            log.info("exec probes enter containers directly")
            await asyncio.to_thread(self._filters.sweep)

    def share(self, engine: DirectEngine, *, alone: bool = True) -> None:
        """Gives the helper to ``engine``; ``take`` is to get what its batches say of commands (``Batch.entered``).
        ``alone`` lets it enter described containers without being asked. Call it once."""
        self._engine = engine
        if alone:
            self._containers.engine = engine
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
            raise self._refused(run, run.refusal)
        description = await self._containers.described(run.container_id)
        if self._engine is None:
            raise FallbackError(Reason.HELPER, "the engine does not have it yet")
        refusal = self._engine.enter_exec(run.run, description, run.argv, run.timeout_seconds)
        if refusal is not None:
            raise self._refused(run, refusal)
        self._waiting[run.run] = asyncio.get_running_loop().create_future()
        try:
            found = await self._waiting[run.run]
        finally:
            del self._waiting[run.run]
        if found.end is None:
            assert found.refusal is not None, "a command that is over was answered before"
            raise self._refused(run, found.refusal)
        code = found.end.code
        return ExecOutcome(found.end.kind, -1 if code is None else code, found.end.output)

    def _refused(self, run: ExecRun, refusal: tuple[int, int, int]) -> FallbackError:
        error = refused(refusal)
        if error.reason not in _PASSING:
            self._containers.forget(run.container_id)
        return error

    def take(self, entered: list[EnteredExec]) -> None:
        """Takes what became of commands. One that outlives its attempt keeps a turn."""
        for found in entered:
            future = self._waiting.get(found.run)
            if future is not None and not future.done():
                future.set_result(found)
            if not found.is_over:
                self._held.add(found.run)
                if self.turns is not None:
                    self.turns.keep()
            elif found.run in self._held:
                self._held.discard(found.run)
                if self.turns is not None:
                    self.turns.drop()

    def _ready(self) -> None:
        self.counts.starts = self._helper.starts
        self._hand_over()

    def _hand_over(self) -> None:
        if self._engine is not None and self._helper.bounds is not None:
            self._engine.use_helper(*self._helper.for_engine)

    def _lose(self, why: str) -> None:
        self.counts.starts = self._helper.starts
        self._containers.clear()
        if self._engine is not None:
            self._engine.lose_helper(why)

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
