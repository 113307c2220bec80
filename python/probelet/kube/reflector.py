"""Keeps a mirror equal to a collection of the API server: lists it, watches it, lists it again when it must.

The loop lists again after a 410, as a status or in the stream, and after an answer that makes no sense; the mirror then
finds what was deleted meanwhile. After anything else it goes on from its version, unless the server's own is older, and
a watch that says nothing is replaced. It never ends by itself.

A server that was away has often forgotten the version. It is well then, so the list comes soon; client-go waits as
after a failure, which may be a minute.
"""

import asyncio
import random
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, NoReturn, TypeVar

import structlog

from probelet.kube.answer import WatchEvent
from probelet.kube.clock import Clock
from probelet.kube.connection import PAGE, Connection
from probelet.kube.error import (
    Expired,
    Forbidden,
    Garbage,
    KubeError,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from probelet.kube.kind import Kind
from probelet.kube.mirror import Key, Mirror, ObjectError
from probelet.kube.pace import Pace
from probelet.kube.retry import Retry
from probelet.kube.waiting import done_within, ended
from probelet.spec.text.duration import SECOND

WATCH_SECONDS: Final = 300
"""The shortest watch that is asked for; the longest is twice that. So the watches of clients that began together end at
different times (client-go tools/cache/reflector.go, ``defaultMinWatchTimeout``, 1.36)."""

SHORT_NS: Final = SECOND
"""A watch that the server ends sooner is a failure. Without a pause the next one might end as soon, for ever."""

SILENCE_NS: Final = 180 * SECOND
"""A watch that is silent for so long is replaced by a new one, which fails if the server is gone. It may as well be a
quiet night: kube-apiserver sends a bookmark a minute, but none while nothing of the kind changes (k8s.io/apiserver
pkg/storage/cacher/cache_watcher.go, ``process``, 1.36). So a silence by itself is no failure."""

GOES_ON: Final = (Unreachable, TooManyRequests, ServerError, Unauthorized, Forbidden)
"""After these errors the version is still good."""

_NUMBER: Final = re.compile("[0-9]{1,20}")
"""Versions are numbers since Kubernetes 1.35 (KEP-5504); another server's may be anything."""

T = TypeVar("T")

log = structlog.get_logger("probelet.kube")


class Reflector(Generic[T]):
    """Mirrors the objects of ``kind`` that the selectors match.

    ``decode``, ``on_change`` and ``items`` are those of ``Mirror``. ``on_connected`` gets each change of ``connected``.
    ``page`` is how many objects of a list are in memory at once as they came. Callbacks run on the event loop and must
    not fail. While the server cannot be reached, ``items`` stays as it was.
    """

    def __init__(
        self,
        connection: Connection,
        kind: Kind,
        decode: Callable[[dict[str, Any]], T | None],
        *,
        clock: Clock,
        on_change: Callable[[T | None, T | None], None],
        on_connected: Callable[[bool], None] = lambda connected: None,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        page: int = PAGE,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.connected = False
        """Whether the newest list or watch works."""
        self.last_contact_ns = 0
        """When the server last wrote something, on the clock's ``now``; 0 before that."""
        self.synced = asyncio.Event()
        """Set as soon as ``items`` has been the whole collection."""
        self.lists = 0
        """How often the whole collection was read."""
        self._connection = connection
        self._kind = kind
        self._clock = clock
        self._on_connected = on_connected
        self._namespace = namespace
        self._labels = labels
        self._fields = fields
        self._page = page
        self._chance = chance
        self._retry = Retry(clock, Pace(chance=chance))
        self._mirror = Mirror(kind.resource, decode, on_change)
        self._doubtful = False
        self._logged = ""

    @property
    def items(self) -> Mapping[Key, T]:
        """The objects by namespace and name, a view that changes."""
        return self._mirror.items

    def list_again(self) -> None:
        """The next ``run`` begins with a list, because ``decode`` reads objects otherwise now."""
        self._mirror.version = ""
        self.synced.clear()

    def hurry(self) -> None:
        """The server answers others: ends the wait for it."""
        self._retry.hurry()

    async def run(self) -> NoReturn:
        """Keeps ``items`` up to date until the task is cancelled."""
        while True:
            has_listed = False
            try:
                if not self._mirror.version or (self._doubtful and await self._is_ahead()):
                    await self._list()
                    has_listed = True
                self._doubtful = False
                await self._watch()
            except KubeError as error:
                self._failed(error)
                self._doubtful = True
                if not isinstance(error, GOES_ON):
                    self._mirror.version = ""
                if isinstance(error, Expired) and not has_listed:
                    await self._retry.briefly()
                else:
                    await self._retry.after(error)

    async def _list(self) -> None:
        call = self._connection.call("list", self._kind, self._namespace)
        try:
            listed = await self._connection.list_as(
                self._kind,
                self._mirror.see,
                self._namespace,
                labels=self._labels,
                fields=self._fields,
                limit=self._page,
            )
        except ObjectError as error:
            raise Garbage(call, str(error)) from error
        if not listed.resource_version:
            raise Garbage(call, "a list without a resourceVersion")
        self._mirror.replace(listed.items, listed.resource_version)
        self.lists += 1
        self._answered()
        self.synced.set()

    async def _is_ahead(self) -> bool:
        """Whether the mirror is newer than the server, as after a restore of etcd.

        A kube-apiserver refuses no watch from a version that it has yet to reach: it leaves out the changes before it.
        """
        newest = await self._connection.version(self._kind, self._namespace, labels=self._labels, fields=self._fields)
        known = self._mirror.version
        ahead = bool(_NUMBER.fullmatch(newest) and _NUMBER.fullmatch(known)) and int(newest) < int(known)
        if ahead:
            log.warning(f"{self._kind.resource}: the server is older than its clients", server=newest, known=known)
        return ahead

    async def _watch(self) -> None:
        call = self._connection.call("watch", self._kind, self._namespace)
        began = self._clock.now()
        seconds = round(WATCH_SECONDS * (1 + self._chance()))
        self.last_contact_ns = began
        reading = asyncio.create_task(self._read(seconds))
        try:
            while not reading.done():
                left = self.last_contact_ns + SILENCE_NS - self._clock.now()
                if left <= 0:
                    self._doubtful = True
                    return
                await done_within(self._clock, left, reading)
        finally:
            await ended(reading)
        reading.result()
        if self._clock.now() - began < SHORT_NS:
            raise Unreachable(call, "the server ended the watch at once")

    async def _read(self, seconds: int) -> None:
        async with self._connection.watch(
            self._kind,
            self._namespace,
            resource_version=self._mirror.version,
            labels=self._labels,
            fields=self._fields,
            timeout_seconds=seconds,
        ) as events:
            self._answered()
            async for event in events:
                self._handle(event)
                self._answered()

    def _handle(self, event: WatchEvent) -> None:
        try:
            match event.type:
                case "ADDED" | "MODIFIED":
                    self._mirror.added_or_modified(event.object)
                case "DELETED":
                    self._mirror.deleted(event.object)
                case "BOOKMARK":
                    self._mirror.bookmark(event.object)
                case _:
                    raise ObjectError(f"an event of type {event.type[:64]!r}")
        except ObjectError as error:
            raise Garbage(self._connection.call("watch", self._kind, self._namespace), str(error)) from error

    def _answered(self) -> None:
        self.last_contact_ns = self._clock.now()
        if not self.connected:
            self.connected = True
            if self._logged:
                log.info(f"{self._kind.resource}: the API server answers again", server=self._connection.server)
                self._logged = ""
            self._on_connected(True)

    def _failed(self, error: KubeError) -> None:
        if self._logged != str(error):
            self._logged = str(error)
            log.warning(f"cannot {error}", server=self._connection.server)
        if self.connected:
            self.connected = False
            self._on_connected(False)
