"""The data of the page. A reader asks again and again and gets what is new since its last answer.

All readers share a build, and builds have their pace: the next one comes after a multiple of the time that the last one
took, and the more readers ask, the later. So pods and readers, however many, take twice ``SHARE`` of a core at most.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec.structs import asdict

from probelet.server.pages.rows import Row
from probelet.server.pages.source import PageSource, Told
from probelet.server.status import in_pieces
from probelet.server.summary import ended_incident, mistake, more_mistakes, open_incident, span

ROWS_MAX: Final = 1_000
"""Rows on the page, the worst first: a browser gets slow long before the service does. The JSON document has all."""

EVENTS_MAX: Final = 30
"""Events on the page, the newest first."""

ENDED_MAX: Final = 5
"""Incidents that are over and still on the page."""

PACE_SECONDS: Final = 2.0
"""The least time between two builds."""

SHARE: Final = 0.01
"""The part of a core that builds may take, and the part that answers may take."""

ANSWER_SECONDS: Final = 0.0008
"""The cost of an answer with half of the rows of 500 pods, measured on a slow core."""


class Heartbeats:
    """Builds the data from ``source`` when a reader asks. ``now`` and ``spent`` are the clocks of time and of work."""

    def __init__(
        self,
        source: PageSource,
        now: Callable[[], float] = time.monotonic,
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        self._source = source
        self._now = now
        self._spent = spent
        self._lock = asyncio.Lock()
        self._due = now()
        # Answers since the last build: each reader has one.
        self._answered = 0
        # Larger than every version of a process before this one, whose readers ask on.
        self._version = time.time_ns() // 1_000
        self._head: dict[str, Any] = {}
        self._order: list[str] = []
        self._order_version = self._version
        self._rows: dict[str, tuple[int, bytes]] = {}
        # Without the first brace, by the version that a reader has: most readers have the same.
        self._answers: dict[int, bytes] = {}

    async def since(self, version: int) -> bytes:
        """The news since this version, as JSON; 0 for a reader that has nothing yet."""
        async with self._lock:
            if self._now() >= self._due:
                await self._build()
            self._answered += 1
            if version > self._version:
                version = 0
            answer = self._answers.get(version)
            if answer is None:
                answer = self._answers[version] = self._answer(version)
            next_ms = max(0, round((self._due - self._now()) * 1_000))
            return b'{"next_ms":%d,' % next_ms + answer

    async def _build(self) -> None:
        told, work = self._source.told(), _Work(self._spent)
        rows = await in_pieces(work.timed(told.rows))
        began = self._spent()
        rows.sort(key=lambda row: (row["rank"], row["namespace"], row["name"]))
        self._version += 1
        self._answers.clear()
        self._take(rows[:ROWS_MAX])
        self._head = self._shown(told, rows)
        work.seconds += self._spent() - began
        rest = max(work.seconds, self._answered * ANSWER_SECONDS) / SHARE
        self._answered = 0
        self._due = self._now() + max(PACE_SECONDS, rest)

    def _take(self, rows: list[Row]) -> None:
        before = self._rows
        self._rows = {}
        for row in rows:
            text = msgspec.json.encode(row)
            known = before.get(row["uid"])
            self._rows[row["uid"]] = known if known is not None and known[1] == text else (self._version, text)
        order = list(self._rows)
        if order != self._order:
            self._order, self._order_version = order, self._version

    def _shown(self, told: Told, rows: list[Row]) -> dict[str, Any]:
        head, feed = told.head, self._source.incidents
        as_of = datetime.fromisoformat(head["as_of"])
        ended = feed.document()["ended"] if feed is not None and feed.is_on else []
        errors = head.get("manifest_errors", ())
        return {
            "version": self._version,
            "node": head["node"],
            "as_of": head["as_of"],
            "words": asdict(told.words),
            "about": list(told.about),
            "pods": len(rows),
            "more": max(0, len(rows) - ROWS_MAX),
            "ready": sum(row["look"] == "good" for row in rows),
            "trouble": sum(row["rank"] < 2 for row in rows),
            "notices": feed is not None and feed.is_on,
            "open": [
                {"kind": found["kind"], "text": open_incident(found, as_of)} for found in head.get("incidents", ())
            ],
            "open_more": head.get("incidents_total", 0) - len(head.get("incidents", ())),
            "ended": [ended_incident(found) for found in ended[:ENDED_MAX]],
            "mistakes": [mistake(dict(error)) for error in errors],
            "mistakes_more": more_mistakes(head),
            "events": [_event(found, as_of) for found in reversed(self._source.events(0)[-EVENTS_MAX:])],
        }

    def _answer(self, version: int) -> bytes:
        order = self._order if self._order_version > version else None
        head = msgspec.json.encode({**self._head, "order": order, "rows": ()})
        rows = [text for changed, text in self._rows.values() if changed > version]
        return head.removeprefix(b"{").removesuffix(b"]}") + b",".join(rows) + b"]}"


class _Work:
    """How long the making of items takes, without the other work of the event loop in between."""

    def __init__(self, spent: Callable[[], float]) -> None:
        self._spent = spent
        self.seconds = 0.0

    def timed(self, rows: Iterator[Row]) -> Iterator[Row]:
        while True:
            began = self._spent()
            row = next(rows, None)
            self.seconds += self._spent() - began
            if row is None:
                return
            yield row


def _event(event: Any, as_of: datetime) -> dict[str, Any]:
    ago = span((as_of - datetime.fromisoformat(event["at"])).total_seconds())
    times = f" {event['count']} times" if event["count"] > 1 else ""
    return {
        "ago": f"{ago} ago",
        "look": "warn" if event["type"] == "Warning" else "",
        "reason": event["reason"],
        "times": times.strip(),
        "object": str(event["object"]),
        "message": event["message"],
    }
