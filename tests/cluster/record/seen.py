"""The notes of one side, read back."""

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.cluster.record.notes import read
from tests.kubelet.beside.seen.side import Side

Note = dict[str, Any]


class ClusterSide(Side):
    """A side with the changes of the API's objects."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.status = self._without_namespace(self.status)
        self._pods = read(folder / "pods.jsonl")
        self._slices = read(folder / "slices.jsonl")

    @cached_property
    def events(self) -> list[Note]:
        return self._without_namespace(super().events)

    def _without_namespace(self, notes: list[Note]) -> list[Note]:
        """Texts that name the namespace, comparable with those of the other side."""
        kept: list[Note] = json.loads(json.dumps(notes).replace(self.marks["namespace"], "NAMESPACE"))
        return kept

    def changes(self, pod: str) -> list[Note]:
        """The versions of a pod, oldest first."""
        return [note for note in self._pods if note["object"]["metadata"]["name"] == pod]

    def pods_with(self, app: str) -> Iterator[Note]:
        """The versions of every pod with this label."""
        return (note for note in self._pods if note["object"]["metadata"]["labels"].get("app") == app)

    def endpoints(self, service: str) -> list[tuple[float, dict[str, str]]]:
        """The endpoints of a Service after each change: the moment, and the state of each pod by its name."""
        found: dict[str, dict[str, str]] = {}
        states = []
        for note in self._slices:
            thing = note["object"]
            if thing["metadata"]["labels"].get("kubernetes.io/service-name") != service:
                continue
            rows = [] if note["type"] == "DELETED" else thing.get("endpoints") or []
            found[thing["metadata"]["name"]] = {row["targetRef"]["name"]: _state(row["conditions"]) for row in rows}
            together = {pod: state for rows_of in found.values() for pod, state in rows_of.items()}
            states.append((note["at"] / 1e9, together))
        return states


def _state(conditions: dict[str, bool]) -> str:
    """A state such as ``ready serving``."""
    words = [word for word in ("ready", "serving", "terminating") if conditions.get(word)]
    return " ".join(words) or "not ready"


def moment(note: Note) -> float:
    return float(note["at"]) / 1e9


def condition(thing: dict[str, Any], kind: str) -> dict[str, Any]:
    found = thing.get("status", {}).get("conditions") or []
    return next((one for one in found if one["type"] == kind), {})
