"""Reads the runtime's lists: asks about each container and sandbox that is new or has another state than the cache
knows.

A runtime may answer late, never or with nonsense about one of them, and that must hide no other. A list waits
``PATIENCE_NS`` for all of its questions together, and an answer that comes later is taken when it comes. Until then a
container counts as the list has it, because a pod that seemed to lack its containers would get second ones.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final

import msgspec
import structlog

from probelet.base.exposition.paced_log import PacedLog
from probelet.host.tasks import Tasks
from probelet.host.timers import Timers
from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord
from probelet.runtime.cri import errors
from probelet.runtime.seen.cache import PodCache

PATIENCE_NS: Final = 2_000_000_000
"""An honest runtime needs milliseconds for each answer."""

QUESTIONS_MAX: Final = 1024
"""Most questions under way at once."""

QUESTIONS_PER_POD_MAX: Final = 8
"""Most questions about one pod under way at once, so that one pod does not use up ``QUESTIONS_MAX``."""

log = structlog.get_logger("probelet.node")


class Row(msgspec.Struct, frozen=True):
    """A container or sandbox to ask about. ``is_own``: its pod is one of this node's. ``as_listed`` makes its record
    without the answer."""

    uid: str
    is_own: bool
    id: str
    ask: Callable[[], Coroutine[Any, Any, bool]]
    as_listed: Callable[[], ContainerRecord | SandboxRecord]


class Listed:
    """``on_change(uid)`` is called for each pod that a late answer changed."""

    def __init__(self, cache: PodCache, timers: Timers, tasks: Tasks, on_change: Callable[[str], None]) -> None:
        self._cache = cache
        self._timers = timers
        self._tasks = tasks
        self._on_change = on_change
        # The ids on which the runtime has not reported, though it lists them.
        self._unread: set[str] = set()
        # The ids of the questions that have outlasted their list, and how many each pod has.
        self._late: set[str] = set()
        self._late_of: Counter[str] = Counter()
        self._unreported = PacedLog(
            log.warning, "runtime lists a container or sandbox and cannot report on it", timers.seconds
        )

    def is_read(self, id: str) -> bool:
        """Whether the runtime has reported on everything of this id that it listed."""
        return id not in self._unread

    def keep_only(self, ids: set[str]) -> None:
        """Forgets what is no longer listed."""
        self._unread &= ids

    async def ask(self, rows: Iterable[Row]) -> set[str]:
        """Asks about each row; returns the UIDs of the pods that changed. Raises RuntimeUnavailable."""
        patience = asyncio.ensure_future(self._timers.sleep(PATIENCE_NS))
        try:
            return {row.uid for row in rows if await self._ask(row, patience)}
        finally:
            patience.cancel()

    async def _ask(self, row: Row, patience: "asyncio.Future[None]") -> bool:
        """Waits for one answer until the patience is over; True if the cache changed. Then only questions about own
        pods begin: other users of the runtime may have any number."""
        may_begin = row.is_own or not patience.done()
        if may_begin and row.id not in self._late and self._may_ask(row.uid):
            question = asyncio.ensure_future(row.ask())
            try:
                await asyncio.wait((question, patience), return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                question.cancel()
                raise
            if not question.done():
                self._late.add(row.id)
                self._late_of[row.uid] += 1
                self._tasks.spawn(self._answered_late(row, question))
            elif (changed := self._answered(row, question)) is not None:
                return changed
        self._unread.add(row.id)
        return self._cache.put_as_listed(row.uid, row.as_listed(), self._timers.now())

    def _may_ask(self, uid: str) -> bool:
        return len(self._late) < QUESTIONS_MAX and self._late_of[uid] < QUESTIONS_PER_POD_MAX

    def _answered(self, row: Row, question: "asyncio.Future[bool]") -> bool | None:
        """Whether an answer changed the cache; None if it says nothing. The next list asks again."""
        try:
            changed = question.result()
        except errors.RuntimeUnavailable:
            raise
        except errors.CriError as error:
            if row.id not in self._unread:
                self._unreported(id=row.id, error=str(error))
            return None
        self._unread.discard(row.id)
        return changed

    async def _answered_late(self, row: Row, question: "asyncio.Future[bool]") -> None:
        try:
            await asyncio.wait((question,))
            if self._answered(row, question):
                self._on_change(row.uid)
        except errors.RuntimeUnavailable:
            # The next list fails for the same reason, and says so.
            return
        finally:
            question.cancel()
            self._late.discard(row.id)
            self._late_of[row.uid] -= 1
            if not self._late_of[row.uid]:
                del self._late_of[row.uid]
