"""Ends the pods of this node that an earlier probelet left on the runtime and that no manifest claims."""

import asyncio
import shutil
from collections.abc import Container
from pathlib import Path
from typing import Final

import structlog

from probelet.cri import errors
from probelet.cri.client import RuntimeClient
from probelet.cri.v1 import api_pb2
from probelet.node.runtime import labels
from probelet.node.runtime.cri_config import log_directory_of
from probelet.node.tasks import Tasks
from probelet.node.timers import Timers

GRACE_SECONDS: Final = 1
"""The grace of a pod whose manifest went away while probelet did not run (kubelet SyncTerminatingRuntimePod, 1.36)."""

RETRY_NS: Final = 10_000_000_000
"""How long after a failure a pod is tried again, as after a failed sync."""

log = structlog.get_logger("probelet.node")


class Orphans:
    """Ends each pod in a task of its own, which tries again until the pod is gone."""

    def __init__(self, client: RuntimeClient, timers: Timers, tasks: Tasks, *, node: str, log_root: Path) -> None:
        self._client = client
        self._timers = timers
        self._tasks = tasks
        self._node = node
        self._log_root = log_root

    async def remove(self, claimed: Container[str]) -> None:
        """Ends every pod of the node whose UID is not claimed. Raises CriError if the runtime cannot be listed."""
        for sandbox in await self._client.list_pod_sandbox(labels.sandboxes_of(self._node)):
            if sandbox.labels.get(labels.POD_UID, "") not in claimed:
                name = f"{sandbox.metadata.namespace}/{sandbox.metadata.name}"
                log.warning("ending a pod without a manifest", pod=name)
                self._tasks.spawn(self._end(sandbox, name))

    async def _end(self, sandbox: api_pb2.PodSandbox, name: str) -> None:
        while True:
            try:
                await self._try(sandbox.id)
                break
            except errors.CriError as error:
                log.error("a pod without a manifest could not be ended", pod=name, error=str(error))
            await self._timers.sleep(RETRY_NS)
        meta = sandbox.metadata
        logs = log_directory_of(self._log_root, meta.namespace, meta.name, meta.uid)
        await asyncio.to_thread(shutil.rmtree, logs, ignore_errors=True)
        log.info("pod without a manifest gone", pod=name)

    async def _try(self, sandbox_id: str) -> None:
        containers = await self._client.list_containers(api_pb2.ContainerFilter(pod_sandbox_id=sandbox_id))
        await asyncio.gather(*(self._client.stop_container(found.id, GRACE_SECONDS) for found in containers))
        await self._client.stop_pod_sandbox(sandbox_id)
        await self._client.remove_pod_sandbox(sandbox_id)
