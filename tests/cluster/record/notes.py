"""Notes every change of the objects of a namespace, with the moment at which a client learns of it."""

import json
import threading
import time
from pathlib import Path
from typing import Any

from tests.cluster.control_plane.api import Api, ApiError, Object

SILENT_SECONDS, AGAIN_SECONDS = 600.0, 0.2


class Notes:
    """Watches one kind of object from ``start`` to ``end``, into a file of JSON lines: moment, type, object."""

    def __init__(self, api: Api, path: str, file: Path) -> None:
        self._api, self._path, self._file = api, path, file.open("w", 1)
        self._over = threading.Event()
        self._versions: dict[str, str] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """The watch ends with its next event, or with the cluster; nothing is noted any more."""
        self._over.set()
        with self._lock:
            self._file.close()

    def _follow(self) -> None:
        while not self._over.wait(AGAIN_SECONDS):
            try:
                listed = self._api.get(self._path)
                for thing in listed["items"] or []:
                    self._note("ADDED", thing)
                for event in self._api.watch(self._path, listed["metadata"]["resourceVersion"], SILENT_SECONDS):
                    if self._over.is_set():
                        return
                    self._note(event["type"], event["object"])
            except ApiError:
                continue

    def _note(self, kind: str, thing: Object) -> None:
        """Write a version once: a list after an interrupted watch has known ones."""
        metadata = thing["metadata"]
        known, version = self._versions.get(metadata.get("uid", "")), metadata["resourceVersion"]
        if kind == "BOOKMARK" or known == version:
            return
        with self._lock:
            if not self._file.closed:
                self._versions[metadata["uid"]] = version
                self._file.write(json.dumps({"at": time.time_ns(), "type": kind, "object": thing}) + "\n")


def read(file: Path) -> list[dict[str, Any]]:
    """The notes of a file, oldest first."""
    return [json.loads(line) for line in file.read_text().splitlines()]
