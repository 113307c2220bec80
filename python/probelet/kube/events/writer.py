"""Writes events to the API server, from a bounded queue, so that the cause of an event never waits.

client-go tools/record/event.go, 1.36, with one difference: an event whose queue is full, or whose server is away, is
replaced by its own repetition with a higher count, and the oldest one leaves. client-go drops the newest.
"""

import asyncio
import random
import re
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import msgspec
import structlog

from probelet.base.exposition.timestamp import rfc3339
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection
from probelet.kube.error import (
    AlreadyExists,
    Forbidden,
    Garbage,
    KubeError,
    NotFound,
    ServerError,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from probelet.kube.events.correlator import COUNTS_MAX, Correlator, EventType, Same, Similar, recent
from probelet.kube.kinds import EVENTS
from probelet.kube.pace import Pace

QUEUE_MAX: Final = 1000
"""Events that wait to be written (``maxQueuedEvents``)."""

FORBIDDEN_MAX: Final = 1000
"""Namespaces without rights that are remembered: more than a node has pods."""

MESSAGE_CHARS_MAX: Final = 16 * 1024
"""A probe's output has at most 10 KiB; an API server takes a few more."""

TRIED_AGAIN: Final = (Unreachable, TooManyRequests, ServerError, Unauthorized, Garbage)
"""The server may take the same event later. Any other error is its last word about it."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

log = structlog.get_logger("probelet.kube")


class Regarding(msgspec.Struct, frozen=True):
    """The object that events are about (``core.v1.ObjectReference``)."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    field_path: str = ""
    """``spec.containers{app}`` for a container."""
    resource_version: str = ""

    def reference(self) -> dict[str, str]:
        """Returns the reference in the API's form, without empty fields."""
        fields = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "fieldPath": self.field_path,
            "resourceVersion": self.resource_version,
        }
        return {name: value for name, value in fields.items() if value}


@dataclass(slots=True)
class _Known:
    """The part of an event that stays between its repetitions."""

    name: str
    first_ms: int
    written: bool = False


class _Pending(msgspec.Struct, frozen=True):
    regarding: Regarding
    type: EventType
    reason: str
    message: str
    count: int
    last_ms: int


class EventWriter:
    """Events of ``component`` on ``host``. ``record`` takes them, ``run`` writes them."""

    def __init__(
        self,
        connection: Connection,
        component: str,
        host: str,
        clock: Clock,
        *,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.written = 0
        """Requests that the server accepted."""
        self.spam = 0
        """Events that the spam filter dropped."""
        self.lost = 0
        """Events that left a full queue."""
        self.refused = 0
        """Events that the server did not want."""
        self._connection = connection
        self._source = {"component": component, "host": host}
        self._clock = clock
        self._pace = Pace(chance=chance)
        self._correlator = Correlator()
        self._pending: OrderedDict[Same | Similar, _Pending] = OrderedDict()
        self._known: OrderedDict[Same | Similar, _Known] = OrderedDict()
        self._news = asyncio.Event()
        self._stamp_ns = 0
        self._logged = ""
        # The namespaces of events without the right to write them, a line of the log each.
        self._forbidden: set[str] = set()

    def record(self, regarding: Regarding, type: EventType, reason: str, message: str, *, shown: str = "") -> None:
        """Notes one event. Never waits and never fails; the API has it after ``run`` came to it.

        If ``shown`` is given, people read it in place of ``message``, which alone decides what is equal or similar.
        """
        object = regarding.uid or f"{regarding.kind}/{regarding.namespace}/{regarding.name}"
        now = self._clock.now()
        found = self._correlator.correlate(now, object, type, reason, message, regarding.field_path)
        if found is None:
            self.spam += 1
            return
        wall_ms = self._clock.wall_ns() // 1_000_000
        recent(self._known, found.key, lambda: _Known(self._name(regarding.name), wall_ms), COUNTS_MAX)
        text = found.message(shown or message)[:MESSAGE_CHARS_MAX]
        self._pending.pop(found.key, None)
        self._pending[found.key] = _Pending(regarding, type, reason, text, found.count, wall_ms)
        if len(self._pending) > QUEUE_MAX:
            self._pending.popitem(last=False)
            self.lost += 1
        self._news.set()

    @property
    def waiting(self) -> int:
        """Events that are not yet written."""
        return len(self._pending)

    async def run(self) -> NoReturn:
        """Writes events, oldest first, until the task is cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._pending:
                key, pending = self._pending.popitem(last=False)
                try:
                    await self._write(key, pending)
                except TRIED_AGAIN as error:
                    self._say(error, "tries again")
                    # A repetition that came meanwhile has the higher count, and takes the place.
                    self._pending.setdefault(key, pending)
                    self._pending.move_to_end(key, last=False)
                    await self._clock.sleep(self._pace.after_failure(self._clock.now(), error.retry_after_ns))
                except KubeError as error:
                    self.refused += 1
                    self._lose(error, pending.regarding.namespace)
                else:
                    self.written += 1
                    self._logged = ""
                    self._forbidden.discard(pending.regarding.namespace)

    async def _write(self, key: Same | Similar, pending: _Pending) -> None:
        known = recent(
            self._known, key, lambda: _Known(self._name(pending.regarding.name), pending.last_ms), COUNTS_MAX
        )
        namespace = pending.regarding.namespace or "default"
        repeated = {"count": pending.count, "lastTimestamp": rfc3339(pending.last_ms), "message": pending.message}
        if known.written:
            try:
                await self._connection.patch(EVENTS, known.name, namespace, repeated, type="merge")
            except NotFound:
                # The server has forgotten the event, as it does after an hour.
                known.name = self._name(pending.regarding.name)
            else:
                return
        try:
            await self._connection.create(EVENTS, self._object(known, namespace, pending) | repeated)
        except AlreadyExists:
            # Nobody else makes this name: an earlier request had its effect and no answer.
            await self._connection.patch(EVENTS, known.name, namespace, repeated, type="merge")
        known.written = True

    def _object(self, known: _Known, namespace: str, pending: _Pending) -> dict[str, Any]:
        return {
            "metadata": {"name": known.name, "namespace": namespace},
            "involvedObject": pending.regarding.reference(),
            "type": pending.type,
            "reason": pending.reason,
            "source": self._source,
            "reportingComponent": self._source["component"],
            "reportingInstance": self._source["host"],
            "firstTimestamp": rfc3339(known.first_ms),
        }

    def _name(self, name: str) -> str:
        """``GenerateEventName`` of tools/record/util/util.go: the object's name and the time, or by chance."""
        # The clock may be one of milliseconds, and two events of one name would be one.
        self._stamp_ns = max(self._stamp_ns + 1, self._clock.wall_ns())
        made = f"{name}.{self._stamp_ns:x}"
        return made if len(made) <= 253 and _NAME.fullmatch(made) else str(uuid.uuid4())

    def _lose(self, error: KubeError, namespace: str) -> None:
        """Logs why an event is lost. A missing right is one line, although each event has a name of its own."""
        if not isinstance(error, Forbidden):
            self._say(error, "the event is lost")
        elif namespace not in self._forbidden:
            if len(self._forbidden) < FORBIDDEN_MAX:
                self._forbidden.add(namespace)
            self._say(error, "the event is lost, and those after it while this lasts")

    def _say(self, error: KubeError, what: str) -> None:
        if str(error) != self._logged:
            self._logged = str(error)
            log.warning(f"an event cannot be written; {what}", reason=str(error), waiting=len(self._pending))
