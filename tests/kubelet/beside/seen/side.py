"""One side's folder, read back."""

import calendar
import json
import re
import time
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from tests.kubelet.beside.pods.changes import REMOVED
from tests.kubelet.beside.seen.instance import Instance
from tests.kubelet.beside.seen.kubelet_events import events_of_log
from tests.kubelet.beside.seen.text import text
from tests.kubelet.beside.sides.agent import SUFFIX

IDLE_START_SECONDS = 0.2
SECONDS = 80.0
"""The first part of the comparison covers so much of each pod, from its first container's start on."""


class Side:
    """What was seen of one agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marks: dict[str, Any] = json.loads((folder / "marks.json").read_text())
        self.name = str(self.marks["side"])
        self.instances: dict[str, Instance] = {}
        self.sandboxes: dict[str, dict[str, Any]] = {}
        for note in _lines(folder / "cri.jsonl"):
            self._take(note)
        self._read_ends()
        self._read_logs()
        self.status = _lines(folder / "status.jsonl")

    def _take(self, note: dict[str, Any]) -> None:
        if "sandbox" in note:
            status = note["sandbox"]["status"]
            self.sandboxes.setdefault(status["id"], status | {"info": note["sandbox"].get("info", {})})
            return
        status = note["container"]["status"]
        one = self.instances.setdefault(status["id"], Instance.of(status))
        one.status = status
        if "info" in note["container"]:
            verbose = json.loads(note["container"]["info"]["info"])
            one.spec, one.sandbox = verbose.get("runtimeSpec", {}), verbose.get("sandboxID", "")

    def _read_ends(self) -> None:
        """Exits between two looks at the runtime."""
        for line in (self.folder / "ends.txt").read_text().splitlines():
            if " /tasks/exit " not in line:
                continue
            event = json.loads(line[line.index("{") :])
            one = self.instances.get(event["container_id"])
            if one is not None and event["id"] == event["container_id"]:
                whole, fraction = re.match(r"(\S+ \S+?)(\.\d+)? ", line).groups()  # type: ignore[union-attr]
                moment = calendar.timegm(time.strptime(whole, "%Y-%m-%d %H:%M:%S")) + float(fraction or 0)
                one.ended = (moment, event.get("exit_status", 0))

    def _read_logs(self) -> None:
        of = {(one.uid, one.container, one.attempt): one for one in self.instances.values()}
        for file in (self.folder / "logs").iterdir():
            pod, container, number = file.stem.split("@")
            one = of.get((pod.rsplit("_", 1)[1], container, int(number)))
            if one is None:
                continue
            for line in file.read_text(errors="replace").splitlines():
                said = line.split(" ", 3)[-1]
                if said.startswith("{"):
                    one.notes.append(json.loads(said))
            one.notes.sort(key=lambda note: int(note["at"]))
            if one.notes:
                one.began = one.notes[0]["at"] / 1e9

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Every event about a pod: what the agent keeps, or for a kubelet without an API server its log."""
        kept = json.loads((self.folder / "events.json").read_text())
        if self.name == "kubelet" and not kept:
            kept = events_of_log((self.folder / "agent" / "agent.log").read_text(errors="replace"))
        combined = "(combined from similar events): "
        return [{**event, "message": text(event["message"].removeprefix(combined))} for event in kept]

    @cached_property
    def pace(self) -> float:
        """How many times as long as on an idle machine the runtime takes to start a container; at least 1."""
        starts = [one.started - one.created for one in self.instances.values() if one.created and one.started]
        return max(1.0, median(starts) / IDLE_START_SECONDS) if starts else 1.0

    def mark(self, name: str) -> float:
        """The moment of a mark; 0 if it was not reached."""
        return float(self.marks.get(name, 0)) / 1e9

    def pods(self) -> set[str]:
        boxes = {str(box["metadata"]["name"]).removesuffix(SUFFIX) for box in self.sandboxes.values()}
        return {one.pod for one in self.instances.values()} | boxes | {row["key"].split("/")[0] for row in self.status}

    def of(self, pod: str) -> dict[str, list[Instance]]:
        """The instances of each container of a pod, oldest first."""
        found: dict[str, list[Instance]] = {}
        mine = [one for one in self.instances.values() if one.pod == pod]
        for one in sorted(mine, key=lambda one: (one.created, one.attempt)):
            found.setdefault(one.container, []).append(one)
        return found

    def end_of(self, pod: str) -> float:
        """The end of the first part for this pod."""
        begins = [one.started for one in self.instances.values() if one.pod == pod and one.started]
        end = min([*begins, self.mark("started")]) + SECONDS
        return min(end, self.mark("remove")) if pod in REMOVED else end

    def statuses(self, pod: str, begin: float, end: float) -> dict[str, list[dict[str, Any] | None]]:
        """The rows of a pod ("pod") and its containers, one after another, in a stretch of time."""
        found: dict[str, list[dict[str, Any] | None]] = {}
        for row in self.status:
            name, _, *container = row["key"].split("/")
            if name == pod and begin <= row["at"] / 1e9 < end:
                found.setdefault(container[0] if container else "pod", []).append(row["row"])
        return found


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]
