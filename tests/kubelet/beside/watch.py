"""Notes what one side does at once: changes of its status, of the runtime's containers and sandboxes, its logs.

The notes go to ``status.jsonl``, ``cri.jsonl``, ``ends.txt`` (the runtime's own events), ``events.json`` and ``logs/``.
"""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from probelet.runtime.cri.v1 import api_pb2

from tests.kubelet.beside.sides.agent import Rows

STATUS_SECONDS, CRI_SECONDS, LOGS_SECONDS, EVENTS_SECONDS = 0.2, 0.3, 0.3, 5.0
"""How often each part looks."""


class WatchedRuntime(Protocol):
    """The containers and sandboxes that a watch looks at."""

    @property
    def socket(self) -> Path: ...

    @property
    def inside(self) -> list[str]:
        """The prefix of a command that runs where the runtime is."""
        ...

    def containers(self) -> list[api_pb2.Container]: ...

    def sandboxes(self) -> list[api_pb2.PodSandbox]: ...

    def container_status(self, name: str, *, verbose: bool) -> Message: ...

    def sandbox_status(self, name: str) -> Message: ...


class Watched(Protocol):
    """What a watch looks at."""

    @property
    def runtime(self) -> WatchedRuntime: ...

    @property
    def logs(self) -> Path:
        """The folder of the logs of pods."""
        ...

    def rows(self) -> Rows:
        """The status now. Raises RuntimeError if nobody answers."""
        ...

    def events(self) -> list[dict[str, Any]]:
        """The events that are kept: pod, field, type, reason, message, count."""
        ...


class Watch:
    """Looks from ``start`` to ``end``, each part in a thread."""

    def __init__(self, agent: Watched, out: Path) -> None:
        self._agent, self._out = agent, out
        self._over = threading.Event()
        self._rows: Rows = {}
        self._states: dict[str, int] = {}
        self._linked: set[Path] = set()
        self._events: dict[str, dict[str, Any]] = {}
        (out / "logs").mkdir(parents=True)
        self._status_file = (out / "status.jsonl").open("w", 1)
        self._cri_file = (out / "cri.jsonl").open("w", 1)
        self._looks = [(self._status, STATUS_SECONDS), (self._cri, CRI_SECONDS), (self._logs, LOGS_SECONDS)]
        self._looks += [(self._agents_events, EVENTS_SECONDS)]
        parts = [*self._looks, (self._runtime_events, CRI_SECONDS)]
        self._threads = [threading.Thread(target=self._repeat, args=part, daemon=True) for part in parts]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """A last look notes what a test has already seen elsewhere, such as a container that a status names."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        for look, _ in self._looks:
            self._once(look)
        self._status_file.close()
        self._cri_file.close()

    def _repeat(self, part: Callable[[], None], seconds: float) -> None:
        while not self._over.wait(seconds):
            self._once(part)

    def _once(self, part: Callable[[], None]) -> None:
        # The agent and the runtime are restarted meanwhile, and folders go while a part reads them.
        with suppress(RuntimeError, OSError):
            part()

    def _status(self) -> None:
        now = time.time_ns()
        rows = self._agent.rows()
        for key in sorted(rows.keys() | self._rows.keys()):
            if rows.get(key) != self._rows.get(key):
                self._status_file.write(json.dumps({"at": now, "key": key, "row": rows.get(key)}) + "\n")
        self._rows = rows

    def _cri(self) -> None:
        runtime = self._agent.runtime
        for one in runtime.containers():
            if self._is_news(one.id, one.state):
                with suppress(RuntimeError):
                    running = one.state == api_pb2.CONTAINER_RUNNING
                    self._note("container", runtime.container_status(one.id, verbose=running))
        for box in runtime.sandboxes():
            if self._is_news(box.id, box.state):
                with suppress(RuntimeError):
                    self._note("sandbox", runtime.sandbox_status(box.id))

    def _is_news(self, name: str, state: int) -> bool:
        before, self._states[name] = self._states.get(name), state
        return before != state

    def _note(self, kind: str, answer: Message) -> None:
        found = MessageToDict(answer, preserving_proto_field_name=True)
        self._cri_file.write(json.dumps({"at": time.time_ns(), kind: found}) + "\n")

    def _logs(self) -> None:
        """Keep each log file under a second name, because it goes with its container."""
        for file in self._agent.logs.glob("*/*/*.log"):
            if file not in self._linked:
                with suppress(OSError):
                    os.link(file, self._out / "logs" / "@".join(file.relative_to(self._agent.logs).parts))
                    self._linked.add(file)

    def _agents_events(self) -> None:
        for event in self._agent.events():
            self._events[json.dumps({**event, "count": 0})] = event
        (self._out / "events.json").write_text(json.dumps(list(self._events.values())))

    def _runtime_events(self) -> None:
        """Follow the events of the runtime, which end with it: some containers end and go between two looks."""
        runtime = self._agent.runtime
        command = [*runtime.inside, "ctr", "-a", str(runtime.socket), "-n", "k8s.io", "events"]
        with (self._out / "ends.txt").open("ab") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and not self._over.wait(CRI_SECONDS):
            pass
        # What enters a process namespace has a child, which would go on writing.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
