"""The pod lifecycle event generator: keeps the cache equal to the runtime and reports which pods changed.

It has two sources, as in the kubelet (pkg/kubelet/pleg, 1.36): the runtime's event stream, and a relist of everything,
which repairs what the events missed and is the only source for a runtime without events (containerd 1.x). A relist is
two calls for the whole node; only for new and changed containers and sandboxes it asks for details.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from probelet.cri import errors
from probelet.cri.client import RuntimeClient
from probelet.cri.container_id import bare_id
from probelet.cri.v1 import api_pb2
from probelet.node.runtime import labels
from probelet.node.runtime.cache import PodCache
from probelet.node.runtime.facts import container_record, sandbox_record, state_of
from probelet.node.timers import Timers

RELIST_PERIOD_NS: Final = 1_000_000_000
"""The period of relists without events (kubelet ``genericPlegRelistPeriod``, 1.36)."""

EVENTED_RELIST_PERIOD_NS: Final = 10_000_000_000
"""The period of relists with events. The kubelet's 300 s trusts its runtime more; a few milliseconds of work every ten
seconds cost nothing."""

log = structlog.get_logger("probelet.node")


class Pleg:
    """Feeds ``cache`` and calls ``on_change(uid)`` on the event loop after every change of a pod."""

    def __init__(
        self, client: RuntimeClient, cache: PodCache, timers: Timers, runtime: str, on_change: Callable[[str], None]
    ) -> None:
        self.error: str | None = "the runtime has not been listed yet"
        """Why the runtime could not be listed the last time; None when it could."""
        self._client = client
        self._cache = cache
        self._timers = timers
        self._runtime = runtime
        self._on_change = on_change
        self._wake = asyncio.Event()
        self._evented = False
        # The ids that the runtime could not tell about, each with the error that was logged.
        self._unseen: dict[str, str] = {}

    # Lists.

    async def relist(self) -> None:
        """Brings the cache up to date with the whole runtime. Raises CriError."""
        asked_at = self._timers.now()
        # The calls follow each other, because a gather whose child fails while it is cancelled loses the cancellation.
        sandboxes = await self._client.list_pod_sandbox()
        containers = await self._client.list_containers()
        ids: dict[str, set[str]] = {uid: set() for uid in self._cache.uids()}
        changed = set()
        for box in sandboxes:
            uid = box.labels.get(labels.POD_UID, box.metadata.uid)
            ids.setdefault(uid, set()).add(box.id)
            if await self._looked_at(self._look_at_sandbox(uid, box), box.id):
                changed.add(uid)
        for row in containers:
            uid = row.labels.get(labels.POD_UID, "")
            if not uid:
                # A container without a pod's UID was made by no kubelet and by no probelet.
                continue
            ids.setdefault(uid, set()).add(self._full_id(row.id))
            if await self._looked_at(self._look_at_container(uid, row), row.id):
                changed.add(uid)
        listed = {box.id for box in sandboxes} | {row.id for row in containers}
        self._unseen = {id: error for id, error in self._unseen.items() if id in listed}
        changed |= {uid for uid, left in ids.items() if self._cache.keep_only(uid, left, asked_at)}
        for uid in changed:
            self._on_change(uid)
        # Here and not in the loop below: the first list is made before the service says that it is ready.
        if self.error is not None:
            log.info("runtime listed", endpoint=self._client.endpoint)
        self.error = None

    async def _looked_at(self, look: Awaitable[bool], id: str) -> bool:
        """Awaits a look at one container or sandbox. If the runtime cannot tell about it, the relist goes on, and the
        next one asks again."""
        try:
            changed = await look
        except errors.RuntimeUnavailable:
            raise
        except errors.CriError as error:
            if self._unseen.get(id) != str(error):
                log.warning("runtime lists a container or sandbox and cannot report on it", id=id, error=str(error))
            self._unseen[id] = str(error)
            return False
        self._unseen.pop(id, None)
        return changed

    async def _look_at_sandbox(self, uid: str, row: api_pb2.PodSandbox) -> bool:
        known = self._cache.sandbox(uid, row.id)
        if known is not None and known.ready == (row.state == api_pb2.SANDBOX_READY):
            return False
        return await self.refresh_sandbox(uid, row.id)

    async def _look_at_container(self, uid: str, row: api_pb2.Container) -> bool:
        known = self._cache.container(uid, self._full_id(row.id))
        if known is not None and known.state is state_of(row.state):
            return False
        return await self.refresh_container(uid, self._full_id(row.id), row.pod_sandbox_id)

    async def refresh_sandbox(self, uid: str, sandbox_id: str) -> bool:
        """Asks the runtime about one sandbox; True if the cache changed. Raises CriError."""
        try:
            answer = await self._client.pod_sandbox_status(sandbox_id)
        except errors.NotFound:
            return self._cache.drop(uid, sandbox_id)
        return self._cache.put_sandbox(uid, sandbox_record(answer.status), self._timers.now())

    async def refresh_container(self, uid: str, container_id: str, sandbox_id: str) -> bool:
        """Asks the runtime about one container; True if the cache changed. Raises CriError."""
        try:
            answer = await self._client.container_status(bare_id(container_id))
        except errors.NotFound:
            return self._cache.drop(uid, container_id)
        return self._put(uid, answer.status, sandbox_id)

    def request_relist(self) -> None:
        """Asks for a relist as soon as possible."""
        self._wake.set()

    async def relist_for_ever(self) -> None:
        """Relists until cancelled; after an error it tries again."""
        while True:
            self._wake.clear()
            try:
                await self.relist()
            except errors.CriError as error:
                if self.error != str(error):
                    log.error("runtime cannot be listed", endpoint=self._client.endpoint, error=str(error))
                self.error = str(error)
            await self._pause(EVENTED_RELIST_PERIOD_NS if self._evented else RELIST_PERIOD_NS, self._wake)

    async def _pause(self, ns: int, woken: asyncio.Event) -> None:
        timer = self._timers.arm(self._timers.now() + ns, woken.set)
        try:
            await woken.wait()
        finally:
            self._timers.cancel(timer)

    # Events.

    async def follow(self) -> None:
        """Takes events until cancelled; returns if the runtime has none."""
        while True:
            stream = self._client.container_events()
            try:
                await stream.opened()
                # A list made after the stream has opened finds what happened before.
                self._evented = True
                self.request_relist()
                async for event in stream:
                    self._take(event)
                ended = "ended"
            except errors.Unimplemented:
                log.info("runtime has no container events: relisting every second", endpoint=self._client.endpoint)
                self._evented = False
                return
            except errors.CriError as error:
                ended = str(error)
            finally:
                stream.cancel()
            self._evented = False
            self.request_relist()
            log.warning("container events interrupted", endpoint=self._client.endpoint, error=ended)
            await self._pause(RELIST_PERIOD_NS, asyncio.Event())

    def _take(self, event: api_pb2.ContainerEventResponse) -> None:
        sandbox = event.pod_sandbox_status
        uid = sandbox.labels.get(labels.POD_UID, sandbox.metadata.uid)
        if not uid:
            # The event does not name the pod: a list finds out which one changed.
            self.request_relist()
            return
        changed = False
        if event.container_event_type == api_pb2.CONTAINER_DELETED_EVENT:
            if event.container_id == sandbox.id:
                # This event is the sandbox's own, under its own id.
                if self._cache.drop(uid, sandbox.id):
                    self._on_change(uid)
                return
            changed = self._cache.drop(uid, self._full_id(event.container_id))
        changed |= self._cache.put_sandbox(uid, sandbox_record(sandbox), self._timers.now())
        for status in event.containers_statuses:
            changed |= self._put(uid, status, sandbox.id)
        if changed:
            self._on_change(uid)

    def _put(self, uid: str, status: api_pb2.ContainerStatus, sandbox_id: str) -> bool:
        now = self._timers.now()
        record = container_record(
            status, runtime=self._runtime, sandbox_id=sandbox_id, now_ns=now, wall_ns=self._timers.wall_ns()
        )
        return self._cache.put_container(uid, record, now)

    def _full_id(self, container_id: str) -> str:
        return f"{self._runtime}://{container_id}"
