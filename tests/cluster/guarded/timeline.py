"""How many pods of a Deployment were ready, and how often containers were restarted, at each moment of a record."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.record.notes import read
from tests.cluster.record.seen import condition

Points = list[tuple[float, int]]
"""Second since the beginning, and the number from then on."""


@dataclass(frozen=True)
class Timeline:
    """What the API server said about the pods of one label."""

    ready: Points
    restarts: Points

    def least_ready(self, after: float) -> int:
        """The lowest number of ready pods from a moment on, the one that it began with included."""
        before = [count for at, count in self.ready if at <= after]
        return min([*before[-1:], *(count for at, count in self.ready if at > after)])

    def total_restarts(self) -> int:
        return self.restarts[-1][1] if self.restarts else 0


def timeline(file: Path, app: str, began_ns: int) -> Timeline:
    """Reads the notes about pods."""
    ready: dict[str, bool] = {}
    restarts: dict[str, int] = {}
    found = Timeline([], [])
    for note in read(file):
        thing = note["object"]
        if thing["metadata"]["labels"].get("app") != app:
            continue
        at, uid = (note["at"] - began_ns) / 1e9, thing["metadata"]["uid"]
        is_there = note["type"] != "DELETED" and "deletionTimestamp" not in thing["metadata"]
        ready[uid] = is_there and condition(thing, "Ready").get("status") == "True"
        restarts[uid] = max(restarts.get(uid, 0), _restarts(thing))
        _add(found.ready, at, sum(ready.values()))
        _add(found.restarts, at, sum(restarts.values()))
    return found


def _restarts(thing: dict[str, Any]) -> int:
    return sum(one["restartCount"] for one in thing.get("status", {}).get("containerStatuses") or [])


def _add(points: Points, at: float, value: int) -> None:
    """Notes from before the beginning, of what was there already, make one point at 0."""
    at = round(max(at, 0.0), 3)
    if points and points[-1][0] == at == 0.0:
        points[-1] = (at, value)
    elif not points or points[-1][1] != value:
        points.append((at, value))
