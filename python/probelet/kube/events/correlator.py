"""Which events are equal, which are similar enough to be merged, and which are too many. Time is an argument.

client-go tools/record/events_cache.go, 1.36, in its order: aggregation, then the count of equal events, then the spam
filter. The filter's bucket is per source and object; a correlator has one source.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

import msgspec

from probelet._rust import TokenBucket

SPAM_BURST: Final = 25
"""How many events of one object may come at once (``defaultSpamBurst``)."""

SPAM_REFILL_NS: Final = 300_000_000_000
"""Then one event in five minutes (``defaultSpamQPS`` 1/300)."""

SIMILAR_MAX: Final = 10
"""From so many different messages of one reason on, events are merged (``defaultAggregateMaxEvents``)."""

SIMILAR_WINDOW_NS: Final = 600_000_000_000
"""How soon events must follow each other to be merged (``defaultAggregateIntervalInSeconds``)."""

COMBINED: Final = "(combined from similar events): "

COUNTS_MAX: Final = 10_000
"""For how many different events the count is remembered: an hour of a node of 200 pods in which everything fails. An
API server keeps an event for an hour."""

OBJECTS_MAX: Final = 4096
"""For how many objects the buckets and the similar events are remembered (``maxLruCacheEntries``)."""

EventType = Literal["Normal", "Warning"]
Similar = tuple[str, EventType, str]
Same = tuple[str, EventType, str, str, str]
K = TypeVar("K")
V = TypeVar("V")


class Correlated(msgspec.Struct, frozen=True):
    """The place of an event among the others."""

    key: Same | Similar
    """Equal for events that are one object of the API, whose count rises."""
    count: int
    combined: bool
    """Whether its message is one of several, and so begins with ``COMBINED``."""

    def message(self, message: str) -> str:
        """The message as the API has it."""
        return COMBINED + message if self.combined else message


@dataclass(slots=True)
class _Aggregate:
    messages: set[str] = field(default_factory=set)
    last_ns: int = 0


class Correlator:
    """Correlates the events of one source."""

    def __init__(self) -> None:
        self._aggregates: OrderedDict[Similar, _Aggregate] = OrderedDict()
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._counts: OrderedDict[Same | Similar, int] = OrderedDict()

    def correlate(
        self, now: int, uid: str, type: EventType, reason: str, message: str, field_path: str = ""
    ) -> Correlated | None:
        """Correlates an event at ``now`` about the object ``uid``; None if the spam filter drops it."""
        key, combined = self._aggregate(uid, type, reason, message, field_path, now)
        count = recent(self._counts, key, lambda: 0, COUNTS_MAX) + 1
        self._counts[key] = count
        bucket = recent(
            self._buckets, uid, lambda: TokenBucket(burst=SPAM_BURST, interval_ns=SPAM_REFILL_NS), OBJECTS_MAX
        )
        return Correlated(key, count, combined) if bucket.take(now) else None

    def _aggregate(
        self, uid: str, type: EventType, reason: str, message: str, field_path: str, now: int
    ) -> tuple[Same | Similar, bool]:
        """The key under which an event is counted, and whether too many similar events came, so that it is merged."""
        similar: Similar = (uid, type, reason)
        aggregate = recent(self._aggregates, similar, _Aggregate, OBJECTS_MAX)
        if now - aggregate.last_ns > SIMILAR_WINDOW_NS:
            aggregate.messages.clear()
        aggregate.messages.add(message)
        aggregate.last_ns = now
        if len(aggregate.messages) < SIMILAR_MAX:
            return (uid, type, reason, message, field_path), False
        # The set stays full: one message leaves it, so that the next different message is merged as well.
        aggregate.messages.pop()
        return similar, True


def recent(cache: "OrderedDict[K, V]", key: K, make: Callable[[], V], limit: int) -> V:
    """The entry of a key, made if it is missing; the one that was asked for longest ago leaves a full cache."""
    if key in cache:
        cache.move_to_end(key)
        return cache[key]
    value = cache[key] = make()
    if len(cache) > limit:
        cache.popitem(last=False)
    return value
