"""Everything that happens in a namespace, from ``begin`` to ``end``, into one folder."""

import json
import shutil
import time
from pathlib import Path

from tests.cluster.namespace import Namespace
from tests.cluster.record.notes import Notes
from tests.cluster.record.side import NamespaceSide
from tests.kubelet.beside.watch import Watch

KINDS = {"pods": "pods", "slices": "discovery.k8s.io/v1/endpointslices"}
"""The objects of which each change is noted, by the names of their files."""


class Recording:
    """Changes of objects, containers and their logs, events, and marks: named moments."""

    def __init__(self, namespace: Namespace, out: Path, name: str) -> None:
        """``out`` is on the file system of the logs of pods, which get a second name there."""
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        self.side, self.out = NamespaceSide(namespace), out
        self._marks: dict[str, str | int] = {"side": name, "namespace": namespace.name}
        self._watch = Watch(self.side, out)
        api = namespace.cluster.api
        self._notes = [Notes(api, namespace.path(kind), out / f"{file}.jsonl") for file, kind in KINDS.items()]
        self._ended = False

    def begin(self) -> None:
        self._watch.start()
        for notes in self._notes:
            notes.start()
        self.mark("begin")

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            for notes in self._notes:
                notes.end()
            self._watch.end()
            self.mark("end")

    def mark(self, name: str) -> None:
        self._marks[name] = time.time_ns()
        (self.out / "marks.json").write_text(json.dumps(self._marks, indent=1))
