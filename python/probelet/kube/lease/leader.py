"""Runs something while this process is the leader of several, with the times of client-go."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import structlog

from probelet.kube.clock import Clock
from probelet.kube.connection import Connection, Object
from probelet.kube.error import AlreadyExists, Conflict, KubeError, NotFound, Unreachable
from probelet.kube.kinds import LEASES
from probelet.kube.lease.election import RENEW_DEADLINE_NS, RETRY_JITTER, RETRY_NS, Election
from probelet.kube.waiting import done_within, ended

RELEASE_NS: Final = 2_000_000_000
"""How long the end of a process waits for the release; without it the next leader waits for the lease's end."""

log = structlog.get_logger("probelet.kube")


class LeaderElection:
    """A candidate for the lease ``namespace/name``; ``holder`` must be its own among all candidates.

    ``on_answer`` is called when the API server answers again: a candidate asks every few seconds, so it is often the
    first to know.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        namespace: str,
        holder: str,
        clock: Clock,
        *,
        on_answer: Callable[[], None] = lambda: None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.leading = False
        """Whether ``on_lead`` may run."""
        self._connection = connection
        self._name = name
        self._namespace = namespace
        self._clock = clock
        self._on_answer = on_answer
        self._chance = chance
        self._election = Election(holder)
        self._lease: Object | None = None
        self._logged = ""
        self._is_away = False

    @property
    def leader(self) -> str:
        """The holder of the lease as it was last seen; empty if nobody leads."""
        return self._election.leader

    @property
    def has_leader(self) -> bool:
        """Whether somebody has renewed the lease within its duration, as far as this candidate has seen."""
        return self._election.has_leader(self._clock.now())

    async def run(self, on_lead: Callable[[], Awaitable[None]]) -> None:
        """Waits for the lease, runs ``on_lead`` under it, and releases it. Returns when ``on_lead`` returns.

        If the lease cannot be renewed within the deadline, ``on_lead`` is cancelled and awaited, and the candidate
        begins anew. An exception of ``on_lead`` ends the run.
        """
        while True:
            await self._acquire()
            leading = asyncio.ensure_future(on_lead())
            try:
                await self._renew_while(leading)
                if leading.done():
                    leading.result()
                    return
                log.warning("the leader's lease is lost", lease=f"{self._namespace}/{self._name}")
            finally:
                await ended(leading)
                self.leading = False
                await self._release()

    async def _acquire(self) -> None:
        while not await self._try():
            await self._clock.sleep(int(RETRY_NS * (1 + RETRY_JITTER * self._chance())))
        self.leading = True
        log.info("leads", lease=f"{self._namespace}/{self._name}", holder=self._election.holder)

    async def _renew_while(self, leading: "asyncio.Future[None]") -> None:
        """Returns when ``leading`` is done, or the lease could not be renewed within the deadline."""
        renewed_ns = self._clock.now()
        while not await done_within(self._clock, RETRY_NS, leading):
            left = renewed_ns + RENEW_DEADLINE_NS - self._clock.now()
            if left <= 0:
                return
            attempt = asyncio.ensure_future(self._try())
            try:
                began = self._clock.now()
                if await done_within(self._clock, left, attempt) and attempt.result():
                    renewed_ns = began
                elif self._election.leader not in ("", self._election.holder):
                    return
            finally:
                await ended(attempt)

    async def _try(self) -> bool:
        """Whether the lease is this candidate's now. client-go's ``tryAcquireOrRenew``."""
        try:
            if self._lease is not None and self._election.leader == self._election.holder:
                try:
                    return await self._write(self._lease)
                except (Conflict, NotFound):
                    self._lease = None
            try:
                found: Object | None = await self._connection.get(LEASES, self._name, self._namespace)
            except NotFound:
                found = None
            self._answered()
            self._election.observe(found, self._clock.now())
            return await self._write(found)
        except (Conflict, AlreadyExists):
            # Another candidate was faster.
            self._lease = None
            return False
        except KubeError as error:
            self._lease = None
            # A server that comes back may first say that it is not ready.
            self._is_away |= isinstance(error, Unreachable)
            if str(error) != self._logged:
                self._logged = str(error)
                log.warning("the leader's lease cannot be read or renewed", reason=str(error))
            return False

    async def _write(self, found: Object | None) -> bool:
        spec = self._election.bid(self._clock.now(), self._clock.wall_ns())
        if spec is None:
            return False
        if found is None:
            metadata = {"name": self._name, "namespace": self._namespace}
            self._lease = await self._connection.create(LEASES, {"metadata": metadata, "spec": spec})
        else:
            self._lease = await self._connection.replace(LEASES, found | {"spec": spec})
        self._election.observe(self._lease, self._clock.now())
        self._answered()
        self._logged = ""
        return True

    def _answered(self) -> None:
        if self._is_away:
            self._is_away, self._logged = False, ""
            self._on_answer()

    async def _release(self) -> None:
        spec = self._election.release(self._clock.wall_ns())
        if spec is None or self._lease is None:
            return
        release = asyncio.ensure_future(self._connection.replace(LEASES, self._lease | {"spec": spec}))
        self._lease = None
        try:
            if await done_within(self._clock, RELEASE_NS, release):
                with suppress(KubeError):
                    self._election.observe(release.result(), self._clock.now())
        finally:
            await ended(release)
