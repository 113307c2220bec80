"""Events, with the limits of the kubelet's recorder: similar events are merged, and each pod has a rate limit.

client-go tools/record/events_cache.go, 1.36, in its order: aggregation, then the count of equal events, then the spam
filter. The filter's bucket is per source and object; all our events have one source.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

from probelet._rust import TokenBucket
from probelet.exposition.timestamp import rfc3339
from probelet.server.document.event import RecordedEvent

SPAM_BURST: Final = 25
"""How many events of one object may come at once (``defaultSpamBurst``)."""

SPAM_REFILL_NS: Final = 300_000_000_000
"""Then one event in five minutes (``defaultSpamQPS`` 1/300)."""

SIMILAR_MAX: Final = 10
"""From so many different messages of one reason on, events are merged (``defaultAggregateMaxEvents``)."""

SIMILAR_WINDOW_NS: Final = 600_000_000_000
"""How soon events must follow each other to be merged (``defaultAggregateIntervalInSeconds``)."""

COMBINED: Final = "(combined from similar events): "

EVENTS_MAX: Final = 10_000
"""How many events are kept: an hour of a node of 200 pods in which everything fails. An API server keeps an event for
an hour."""

OBJECTS_MAX: Final = 4096
"""For how many objects the buckets and the similar events are remembered (``maxLruCacheEntries``)."""

EventType = Literal["Normal", "Warning"]
K = TypeVar("K")
V = TypeVar("V")
_Similar = tuple[str, EventType, str]
_Same = tuple[str, EventType, str, str, str]


@dataclass(slots=True)
class _Aggregate:
    messages: set[str] = field(default_factory=set)
    last_ns: int = 0


class Recorder:
    """Takes events, keeps the newest ``EVENTS_MAX``, and calls the listeners with each event that is not dropped.

    ``now`` is the engine's clock in nanoseconds, ``wall_ms`` Unix milliseconds.
    """

    def __init__(self, now: Callable[[], int], wall_ms: Callable[[], int]) -> None:
        self.dropped = 0
        """Events that the spam filter dropped."""
        self.listeners: list[Callable[[str, RecordedEvent], None]] = []
        """Called with the pod's UID and each event as ``events`` would return it."""
        self._now = now
        self._wall_ms = wall_ms
        self._seq = 0
        # By the fields that make two events equal; a repetition moves to the end with its count.
        self._kept: OrderedDict[_Same | _Similar, RecordedEvent] = OrderedDict()
        self._aggregates: OrderedDict[_Similar, _Aggregate] = OrderedDict()
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._counts: OrderedDict[_Same | _Similar, int] = OrderedDict()

    def record(
        self,
        uid: str,
        pod: str,
        type: EventType,
        reason: str,
        message: str,
        field_path: str = "",
        at_ms: int = 0,
        *,
        shown: str = "",
    ) -> None:
        """Records one event about a pod (``namespace/name``) or, with a field path, about one of its containers.

        If ``shown`` is given, people read it in place of ``message``. ``message`` alone decides which events are equal
        or similar, so that another wording merges, keeps and drops the same events.
        """
        now = self._now()
        key, merged = self._aggregate(uid, type, reason, message, field_path, now)
        count = _lru(self._counts, key, lambda: 0, EVENTS_MAX) + 1
        self._counts[key] = count
        bucket = _lru(
            self._buckets, uid, lambda: TokenBucket(burst=SPAM_BURST, interval_ns=SPAM_REFILL_NS), OBJECTS_MAX
        )
        if not bucket.take(now):
            self.dropped += 1
            return
        self._seq += 1
        event: RecordedEvent = {
            "seq": self._seq,
            "schema": "probelet-event/1",
            "at": rfc3339(at_ms or self._wall_ms()),
            "type": type,
            "reason": reason,
            "message": COMBINED + (shown or message) if merged else shown or message,
            "object": pod,
            "field_path": field_path,
            "count": count,
        }
        self._kept.pop(key, None)
        self._kept[key] = event
        if len(self._kept) > EVENTS_MAX:
            self._kept.popitem(last=False)
        for listener in self.listeners:
            listener(uid, event)

    def events(self, since: int = 0) -> list[RecordedEvent]:
        """The events kept with ``seq > since``, oldest first."""
        found = []
        for event in reversed(self._kept.values()):
            if event["seq"] <= since:
                break
            found.append(event)
        found.reverse()
        return found

    def _aggregate(
        self, uid: str, type: EventType, reason: str, message: str, field_path: str, now: int
    ) -> tuple[_Same | _Similar, bool]:
        """The key under which an event is counted, and whether too many similar events came, so that it is merged."""
        similar: _Similar = (uid, type, reason)
        aggregate = _lru(self._aggregates, similar, _Aggregate, OBJECTS_MAX)
        if now - aggregate.last_ns > SIMILAR_WINDOW_NS:
            aggregate.messages.clear()
        aggregate.messages.add(message)
        aggregate.last_ns = now
        if len(aggregate.messages) < SIMILAR_MAX:
            return (uid, type, reason, message, field_path), False
        # The set stays full: one message leaves it, so that the next different message is merged as well.
        aggregate.messages.pop()
        return similar, True


def _lru(cache: "OrderedDict[K, V]", key: K, make: Callable[[], V], limit: int) -> V:
    if key in cache:
        cache.move_to_end(key)
        return cache[key]
    value = cache[key] = make()
    if len(cache) > limit:
        cache.popitem(last=False)
    return value
