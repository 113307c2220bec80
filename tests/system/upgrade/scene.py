"""A pod on a runtime that survives probelet: one container is well, one begins to fail, one crashes again and again."""

import asyncio
from typing import Any, Final

from probelet.runtime.cri.v1 import api_pb2

from tests.system.journal.surviving_runtime import SurvivingRuntime, probe

NODE: Final = "upgrade"
UID: Final = "5b0c9d0e-35c4-4f7c-9a11-2f4f0a6f0b20"
"""In the manifest, so that each version gives the pod the same one."""
RESTARTS: Final = 3
"""Starts of the crashing container after its first one: it then waits 40 s."""
THRESHOLD: Final = 7
FAILURES: Final = 4
"""How many of them the failing container has had when probelet is killed."""


def _container(name: str, **probes: Any) -> dict[str, Any]:
    return {"name": name, "image": "i", "command": [name], "imagePullPolicy": "Never", **probes}


POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default", "uid": UID},
    "spec": {
        "containers": [
            _container("well", startupProbe=probe("well", "ok", 3), readinessProbe=probe("well", "ok", 3)),
            _container("failing", livenessProbe=probe("failing", "never", THRESHOLD)),
            _container("crashing"),
        ]
    },
}


class Scene(SurvivingRuntime):
    """``fails``: whether the failing container answers so; ``failures`` counts these answers."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False
        self.failures = 0
        self.starts = 0
        self.has_failed_enough = asyncio.Event()
        self.has_crashed_enough = asyncio.Event()

    def id_of(self, name: str) -> str:
        """The newest container of this name."""
        found = [status for status in self.containers.values() if status.metadata.name == name]
        return max(found, key=lambda status: status.metadata.attempt).id

    async def exec_sync(self, request: api_pb2.ExecSyncRequest) -> api_pb2.ExecSyncResponse:
        if request.cmd[0] == "well" or not self.fails:
            return api_pb2.ExecSyncResponse(exit_code=0)
        self.failures += 1
        if self.failures >= FAILURES:
            self.has_failed_enough.set()
        return api_pb2.ExecSyncResponse(exit_code=1)

    async def start_container(self, request: api_pb2.StartContainerRequest) -> api_pb2.StartContainerResponse:
        answer = await super().start_container(request)
        if self.containers[request.container_id].metadata.name == "crashing":
            self.starts += 1
            self.exit(request.container_id, 1)
            if self.starts > RESTARTS:
                self.has_crashed_enough.set()
        return answer
