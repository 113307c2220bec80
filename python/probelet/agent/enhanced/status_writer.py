"""Writes the status of the node's NodePodProbe: gathers changes, merges, tries again until the API server has them."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NoReturn

import structlog

from probelet.base.exposition.paced_log import PacedLog
from probelet.beside.probes.merge import with_status
from probelet.beside.probes.publishing import Publishing
from probelet.beside.probes.report import Report
from probelet.beside.probes.wanted import Key
from probelet.host.timers import Timers
from probelet.kube.connection import Connection
from probelet.kube.error import Conflict, KubeError, NotFound
from probelet.kube.kinds import NODE_POD_PROBES
from probelet.kube.pace import Pace

FIRST_WAIT_NS: Final = 500_000_000
LONGEST_WAIT_NS: Final = 27_500_000_000
"""The pace of a write that fails: with its jitter, which up to doubles each wait, from 0.5 to 55 s (D-9)."""

CONFLICTS_MAX: Final = 5
"""Conflicts in a row after which the write waits like one that failed. The mapping writes this object too, but not five
times in the time of five reads."""

log = structlog.get_logger("probelet.agent")


class StatusWriter:
    """``reports`` returns the present states. ``counts`` has the writes by how they ended: ``ok``, ``unchanged``,
    ``conflict`` or ``error``."""

    def __init__(
        self, connection: Connection, timers: Timers, publishing: Publishing, reports: Callable[[], dict[Key, Report]]
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._connection = connection
        self._timers = timers
        self._publishing = publishing
        self._reports = reports
        self._object: dict[str, Any] | None = None
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        self._failed = PacedLog(log.warning, "status of the NodePodProbe cannot be written", timers.seconds)

    def found(self, obj: dict[str, Any] | None) -> None:
        """The API server has this version of the object; None: none, and then nothing is written."""
        self._object = obj
        self.wake()

    def wake(self) -> None:
        """The schedule has changed."""
        self._news.set()

    def hurry(self) -> None:
        """The API server answers again: what waits for another try is written now."""
        self._hurry.set()

    async def run(self) -> NoReturn:
        """Writes what is due until the task is cancelled."""
        while True:
            self._news.clear()
            due = None if self._object is None else self._publishing.due_ns()
            if due is None:
                await self._news.wait()
            elif due > self._timers.now():
                await self._wait(due, self._news)
            else:
                await self._write()

    async def _write(self) -> None:
        """Writes the present states; returns when the object has them, or is gone."""
        pace = Pace(first_ns=FIRST_WAIT_NS, longest_ns=LONGEST_WAIT_NS)
        conflicts = 0
        while (obj := self._object) is not None:
            try:
                if await self._send(obj):
                    return
                conflicts += 1
                if conflicts % CONFLICTS_MAX:
                    continue
                wait_ns = pace.after_failure(self._timers.now())
            except NotFound:
                # The watch will say that the object is gone. Nobody makes it again for its status (D-14).
                self._object = None
                return
            except KubeError as error:
                self.counts["error"] += 1
                self._failed(error=str(error))
                wait_ns = pace.after_failure(self._timers.now(), error.retry_after_ns)
            self._hurry.clear()
            await self._wait(self._timers.now() + wait_ns, self._hurry)

    async def _send(self, obj: dict[str, Any]) -> bool:
        """Merges and writes once; False after a conflict, which has read the object again."""
        reports = self._reports()
        body = with_status(obj, reports)
        if body is None:
            self.counts["unchanged"] += 1
        else:
            try:
                written = await self._connection.replace(NODE_POD_PROBES, body, subresource="status")
            except Conflict:
                self.counts["conflict"] += 1
                self._object = await self._connection.get(NODE_POD_PROBES, obj["metadata"]["name"])
                return False
            self.counts["ok"] += 1
            if self._object is obj:
                self._object = written
        self._publishing.written(reports, self._timers.now())
        return True

    async def _wait(self, until_ns: int, woken: asyncio.Event) -> None:
        timer = self._timers.arm(until_ns, woken.set)
        try:
            await woken.wait()
        finally:
            self._timers.cancel(timer)
