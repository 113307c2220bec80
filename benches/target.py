"""The target every engine is measured against: build/target in a process of its own."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parent.parent / "build" / "target"


@dataclass(frozen=True)
class Target:
    port: int

    def statistics(self) -> dict[str, Any]:
        """What the target saw since ``forget``: ``probes`` and ``lateness_ms`` against each pod's own grid."""
        return self._get("/stats")

    def forget(self) -> None:
        self._get("/reset")

    def _get(self, path: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            value: dict[str, Any] = json.load(answer)
            return value


@contextmanager
def target(*behaviour: str) -> Iterator[Target]:
    """A target on every address of 127.0.0.0/8 and a port of its own choice; gone when the block ends."""
    with subprocess.Popen([PROGRAM, ":0", *behaviour], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Target(port=int(process.stdout.readline().rpartition(":")[2]))
        finally:
            process.kill()
