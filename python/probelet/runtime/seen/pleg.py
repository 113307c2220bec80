"""The pod lifecycle event generator: keeps the cache equal to the runtime and reports which pods changed.

It has two sources, as in the kubelet (pkg/kubelet/pleg, 1.36): the runtime's event stream, and a relist of everything,
which repairs what the events missed and is the only source for a runtime without events (containerd 1.x). A relist is
two calls for the whole node; only for new and changed containers and sandboxes it asks for details.
"""

import asyncio
from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from typing import Final

import structlog

from probelet._rust import TokenBucket
from probelet.base.exposition.paced_log import PacedLog
from probelet.host.tasks import Tasks
from probelet.host.timers import Timers
from probelet.policy.facts.snapshot import State
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels
from probelet.runtime.seen.cache import PodCache
from probelet.runtime.seen.facts import listed_container, listed_sandbox, sandbox_record, state_of
from probelet.runtime.seen.inspection import Inspection
from probelet.runtime.seen.listed import Listed, Row

RELIST_PERIOD_NS: Final = 1_000_000_000
"""The period of relists without events (kubelet ``genericPlegRelistPeriod``, 1.36)."""

EVENTED_RELIST_PERIOD_NS: Final = 10_000_000_000
"""The period of relists with events. The kubelet's 300 s trusts its runtime more; a few milliseconds of work every ten
seconds cost nothing."""

RELISTS_BURST: Final = 10
"""Relists at once for other reasons than the period; then one in ``RELIST_PERIOD_NS``, whatever the runtime says."""

EVENTS_BURST: Final = 10_000
"""Events at once: a few for each container of the largest node."""

EVENT_NS: Final = 1_000_000
"""Then one event in this time on average. A stream with more is read with pauses, and a relist follows each pause."""

log = structlog.get_logger("probelet.node")


class Pleg:
    """Feeds ``cache`` and calls ``on_change(uid)`` on the event loop after every change of a pod.

    Other users of the runtime may set any label on what they create there. So a sandbox counts only if ``counts`` says
    so of its labels, and a container only if it is in a sandbox of the pod that it names.
    ``own`` has the UIDs of this node's pods: the runtime is asked about them first.
    """

    def __init__(
        self,
        client: RuntimeClient,
        cache: PodCache,
        timers: Timers,
        tasks: Tasks,
        inspection: Inspection,
        *,
        counts: Callable[[labels.Sandbox], bool],
        own: Container[str],
        on_change: Callable[[str], None],
    ) -> None:
        self.error: str | None = "the runtime has not been listed yet"
        """Why the runtime could not be listed the last time; None when it could."""
        self._client = client
        self._cache = cache
        self._timers = timers
        self._inspection = inspection
        self._counts = counts
        self._own = own
        self._on_change = on_change
        self._listed = Listed(cache, timers, tasks, on_change)
        self._wake = asyncio.Event()
        # The callers that wait for a list, each with the moment before which it must not have begun.
        self._waiting: list[tuple[int, Callable[[], None]]] = []
        self._evented = False
        self._relists = TokenBucket(burst=RELISTS_BURST, interval_ns=RELIST_PERIOD_NS)
        self._events = TokenBucket(burst=EVENTS_BURST, interval_ns=EVENT_NS)
        self._interrupted = PacedLog(log.warning, "container events interrupted", timers.seconds)

    # Lists.

    async def relist(self) -> None:
        """Brings the cache up to date with the whole runtime. Raises CriError."""
        asked_at = self._timers.now()
        # The calls follow each other, because a gather whose child fails while it is cancelled loses the cancellation.
        listed = await self._client.list_pod_sandbox()
        sandboxes = [box for box in listed if self._counts(box)]
        of_pod = {box.id: labels.pod_uid(box) for box in sandboxes}
        containers = [row for row in await self._client.list_containers() if self._is_inside(row, of_pod)]
        ids: dict[str, set[str]] = {uid: set() for uid in self._cache.uids()}
        rows = [*self._sandbox_rows(sandboxes, ids), *self._container_rows(containers, ids)]
        rows.sort(key=lambda row: not row.is_own)
        self._listed.keep_only(set().union(*ids.values()))
        changed = await self._listed.ask(rows)
        changed |= {uid for uid, left in ids.items() if self._cache.keep_only(uid, left, asked_at)}
        for uid in changed:
            self._on_change(uid)
        # Here and not in the loop below: the first list is made before the service says that it is ready.
        if self.error is not None:
            log.info("runtime listed", endpoint=self._client.endpoint)
        self.error = None
        over = [call for since, call in self._waiting if since <= asked_at]
        self._waiting = [each for each in self._waiting if each[0] > asked_at]
        for call in over:
            call()

    def _is_inside(self, row: api_pb2.Container, of_pod: Mapping[str, str]) -> bool:
        """Whether a container is in a sandbox of the pod that its label names. ``of_pod`` has the sandboxes listed."""
        uid = row.labels.get(labels.POD_UID, "")
        if (listed_of := of_pod.get(row.pod_sandbox_id)) is not None:
            return listed_of == uid
        # The sandbox is newer than the list, or the list lacks it.
        full_id = self._inspection.full_id(row.id)
        return bool(self._cache.sandbox(uid, row.pod_sandbox_id) or self._cache.container(uid, full_id))

    def _sandbox_rows(self, listed: list[api_pb2.PodSandbox], ids: dict[str, set[str]]) -> Iterator[Row]:
        """The sandboxes to ask about; ``ids`` gets the ids of all."""
        for box in listed:
            uid = labels.pod_uid(box)
            if not uid:
                continue
            ids.setdefault(uid, set()).add(box.id)
            known = self._cache.sandbox(uid, box.id)
            is_as_known = known is not None and known.ready == (box.state == api_pb2.SANDBOX_READY)
            if not is_as_known or not self._listed.is_read(box.id):
                ask = partial(self._inspection.sandbox, uid, box.id)
                yield Row(uid, uid in self._own, box.id, ask, partial(listed_sandbox, box))

    def _container_rows(self, listed: list[api_pb2.Container], ids: dict[str, set[str]]) -> Iterator[Row]:
        """The containers to ask about; ``ids`` gets the ids of all."""
        for row in listed:
            uid, id = row.labels.get(labels.POD_UID, ""), self._inspection.full_id(row.id)
            if not uid:
                # A container without a pod's UID was made by no kubelet and by no probelet.
                continue
            ids.setdefault(uid, set()).add(id)
            known = self._cache.container(uid, id)
            if known is None or known.state is not state_of(row.state) or not self._listed.is_read(id):
                ask = partial(self._inspection.container, uid, id, row.pod_sandbox_id)
                yield Row(uid, uid in self._own, id, ask, partial(listed_container, row, id))

    def request_relist(self) -> None:
        """Asks for a relist as soon as possible."""
        self._wake.set()

    def when_listed(self, call: Callable[[], None]) -> None:
        """Asks for a relist, and calls ``call`` when the cache is up to date with a list that began after this call."""
        self._waiting.append((self._timers.now(), call))
        self.request_relist()

    async def relist_for_ever(self) -> None:
        """Relists until cancelled; after an error it tries again."""
        while True:
            self._wake.clear()
            now = self._timers.now()
            if (turn := self._relists.reserve(now)) > now:
                await self._timers.sleep(turn - now)
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
                    if not self._events.take(self._timers.now()):
                        await self._pause(RELIST_PERIOD_NS, asyncio.Event())
                        self.request_relist()
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
            self._interrupted(endpoint=self._client.endpoint, error=ended)
            await self._pause(RELIST_PERIOD_NS, asyncio.Event())

    def _take(self, event: api_pb2.ContainerEventResponse) -> None:
        sandbox = event.pod_sandbox_status
        uid = labels.pod_uid(sandbox)
        if not uid or not sandbox.labels:
            # The event does not name the pod or its node: a list finds out which pod changed.
            self.request_relist()
            return
        if not self._counts(sandbox):
            return
        deleted = event.container_event_type == api_pb2.CONTAINER_DELETED_EVENT
        if deleted and event.container_id == sandbox.id:
            # This event is the sandbox's own, under its own id.
            if self._dropped(uid, sandbox.id):
                self._on_change(uid)
            return
        changed = deleted and self._dropped(uid, self._inspection.full_id(event.container_id))
        changed |= self._cache.put_sandbox(uid, sandbox_record(sandbox), self._timers.now())
        for status in event.containers_statuses:
            changed |= self._inspection.put(uid, status, sandbox.id)
        if changed:
            self._on_change(uid)

    def _dropped(self, uid: str, id: str) -> bool:
        """Drops what an event says is deleted; True if the cache had it. What runs has to end first, so for that an
        event alone does not suffice: a second container would start beside it."""
        container, sandbox = self._cache.container(uid, id), self._cache.sandbox(uid, id)
        if (container is not None and container.state is State.RUNNING) or (sandbox is not None and sandbox.ready):
            self.request_relist()
            return False
        return self._cache.drop(uid, id)
