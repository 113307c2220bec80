"""A runtime that survives the kills of probelet; its containers answer by a script and store their answers."""

import asyncio
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from probelet._rust import read_journal
from probelet.runtime.cri.v1 import api_pb2
from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

from tests.unit.node.scripted_runtime import ScriptedRuntime

CONFIG = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
podLogsDir: {logs}
---
apiVersion: probelet.dev/v1alpha1
kind: ProbeletConfiguration
"""


@dataclass
class Answers:
    """The answers to one probe of one container instance, in order; True is a success."""

    script: str
    given: list[bool] = field(default_factory=list)

    def next(self) -> bool:
        number = len(self.given)
        good = {"ok": True, "never": False, "flaky": number % 3 == 2, "dies": number < 4}[self.script]
        self.given.append(good)
        return good

    def run(self, threshold: int, *, last: int = 0) -> tuple[str, int]:
        """The result and its run after all but the ``last`` answers, saturated as the prober keeps it."""
        given = self.given[: len(self.given) - last]
        result, count = True, 0
        for good in given:
            result, count = good, count + 1 if good == result else 1
        return ("Success", min(count, 1)) if result else ("Failure", min(count, threshold))

    def forget(self, count: int) -> None:
        """Drops the newest ``count`` answers, which the journal does not have."""
        del self.given[len(self.given) - count :]

    @property
    def failures_in_a_row(self) -> int:
        return next((n for n, good in enumerate(reversed(self.given)) if good), len(self.given))


class SurvivingRuntime(ScriptedRuntime):
    """Containers answer exec probes; ``stops`` has the number of consecutive failures at each stop of a container."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[tuple[str, str], Answers] = {}
        self.stops: dict[str, list[int]] = defaultdict(list)

    async def exec_sync(self, request: api_pb2.ExecSyncRequest) -> api_pb2.ExecSyncResponse:
        kind, script = request.cmd
        answers = self.answers.setdefault((request.container_id, kind), Answers(script))
        return api_pb2.ExecSyncResponse(exit_code=0 if answers.next() else 1)

    async def stop_container(self, request: api_pb2.StopContainerRequest) -> api_pb2.StopContainerResponse:
        status = self.containers.get(request.container_id)
        if status is not None and status.state == api_pb2.CONTAINER_RUNNING:
            rows = [a.failures_in_a_row for (id, _), a in self.answers.items() if id == request.container_id]
            self.stops[status.metadata.name].append(max(rows, default=0))
        return await super().stop_container(request)


def probe(kind: str, script: str, threshold: int) -> dict[str, Any]:
    return {
        "exec": {"command": [kind, script]},
        "periodSeconds": 1,
        "timeoutSeconds": 10,
        "failureThreshold": threshold,
    }


class Probelet:
    """``probelet run`` on the runtime's socket, killed and started again in one state directory. ``program`` is the
    command of another version."""

    def __init__(
        self,
        directory: Path,
        pods: list[dict[str, Any]],
        *,
        program: Sequence[str] = (sys.executable, "-m", "probelet"),
        node: str | None = None,
    ) -> None:
        self.state = directory / "state"
        self._program = [*program]
        self._flags = [] if node is None else ["--node-name", node]
        self.log = directory / "log"
        self._config = directory / "config.yaml"
        self._pods = directory / "pods.json"
        self._pods.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
        self._endpoint = f"unix://{directory}/cri.sock"
        self._process: asyncio.subprocess.Process | None = None
        self._copies: list[asyncio.Task[None]] = []

    async def start(self, *, restore: str = "full", file_bytes_max: int | None = None) -> None:
        """``file_bytes_max`` limits the size of its files; a pipe carries its log."""
        self._config.write_text(CONFIG.format(logs=self.state / "logs") + f"restore: {restore}\n")
        command = [*self._program, "run", str(self._pods), "--runtime", self._endpoint, *self._flags]
        command += ["--config", str(self._config), "--state-dir", str(self.state), "--listen", "127.0.0.1:0"]
        if file_bytes_max is not None:
            # Python would keep byte code that the limit has cut off, and no later process could read it.
            no_byte_code = ["env", "PYTHONDONTWRITEBYTECODE=1"]
            command = [*no_byte_code, "prlimit", f"--fsize={file_bytes_max}", *command]
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
        self._copies.append(asyncio.create_task(self._copy(self._process.stdout)))

    async def _copy(self, output: asyncio.StreamReader | None) -> None:
        assert output is not None
        async for line in output:
            with self.log.open("ab") as log:
                log.write(line)

    async def kill(self) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            os.kill(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        await asyncio.gather(*self._copies)

    async def containers(self) -> dict[str, dict[str, Any]]:
        """The containers of the status by name; none while the service does not answer."""
        assert self._process is not None
        assert self._process.returncode is None, self.log.read_text()
        try:
            status = await asyncio.to_thread(lambda: Client(self.state).status())
        except NotRunningError:
            return {}
        return {row["name"]: row for pod in status["pods"] for row in pod["containers"]}

    def count_of(self, text: str) -> int:
        """How many lines of the log have this text."""
        return sum(text in line for line in self.log.read_text().splitlines()) if self.log.exists() else 0

    def journal(self) -> list[dict[str, Any]]:
        """The state of every probe in the journal's file."""
        workers: list[dict[str, Any]] = msgspec.json.decode(read_journal(self.state / "journal"))["workers"]
        return workers
