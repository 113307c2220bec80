"""Ends the pods of this node that an earlier probelet left on the runtime and that no manifest claims."""

import asyncio
from collections.abc import Container
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from probelet.base.exposition.paced_log import PacedLog
from probelet.base.files import below
from probelet.base.logs.layout import log_directory_of
from probelet.node.effects.mounts.pod_files import PodFiles
from probelet.policy import messages
from probelet.policy.rules.grace import MINIMUM_GRACE_SECONDS
from probelet.policy.rules.kind import field_path
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen import labels
from probelet.runtime.seen.facts import NAME_CHARS_MAX
from probelet.spec.rules.names import dns1123_label, dns1123_subdomain, pod_uid

GRACE_SECONDS: Final = MINIMUM_GRACE_SECONDS
"""The grace of a pod whose manifest went away while probelet did not run. The kubelet asks for a second
(SyncTerminatingRuntimePod, 1.36), and gives every container the minimum. No hook runs, because nobody has its pod."""

RETRY_NS: Final = 10_000_000_000
"""How long after a failure a pod is tried again, as after a failed sync."""

ORPHANS_MAX: Final = 4096
"""Most pods that are ended after one start: many times those of a node."""

ENDS_MAX: Final = 64
"""Most pods that are ended at once."""

log = structlog.get_logger("probelet.node")


class Orphans:
    """Ends each pod in a task of its own, which tries again until the pod is gone."""

    def __init__(self, host: RuntimeHost, log_root: Path, files: PodFiles | None) -> None:
        self._host = host
        self._client = host.client
        self._log_root = log_root
        self._files = files
        self._turns = asyncio.Semaphore(ENDS_MAX)
        self._failed = PacedLog(log.error, "a pod without a manifest could not be ended", host.timers.seconds)

    async def remove(self, claimed: Container[str]) -> None:
        """Ends every pod of the node whose UID is not claimed. Raises CriError if the runtime cannot be listed."""
        listed = await self._client.list_pod_sandbox(labels.sandboxes_of(self._host.node))
        # A runtime need not honour the filter, and other sandboxes are not for this node to end.
        own = (sandbox for sandbox in listed if labels.is_of(self._host.node, sandbox))
        orphans = [sandbox for sandbox in own if labels.pod_uid(sandbox) not in claimed]
        for sandbox in orphans[:ORPHANS_MAX]:
            name = f"{sandbox.metadata.namespace}/{sandbox.metadata.name}"[: 2 * NAME_CHARS_MAX]
            log.warning("ending a pod without a manifest", pod=name)
            self._host.tasks.spawn(self._end(sandbox, name))
        if len(orphans) > ORPHANS_MAX:
            log.error("the next start ends more pods without a manifest", pods=len(orphans) - ORPHANS_MAX)

    async def _end(self, sandbox: api_pb2.PodSandbox, name: str) -> None:
        while True:
            try:
                async with self._turns:
                    await self._try(sandbox, name)
                break
            except errors.CriError as error:
                failed = messages.failed_kill(str(error))
                self._host.recorder.record(sandbox.metadata.uid, name, "Warning", messages.FAILED_KILL_POD, failed)
                self._failed(pod=name, error=str(error))
            await self._host.timers.sleep(RETRY_NS)
        if _is_ours(sandbox):
            await asyncio.to_thread(self._remove_files, sandbox.metadata)
        log.info("pod without a manifest gone", pod=name)

    def _remove_files(self, meta: api_pb2.PodSandboxMetadata) -> None:
        if self._files is not None:
            self._files.remove(meta.uid)
        # The logs stay if the system refuses to remove them, as the kubelet's do.
        with suppress(OSError):
            below.remove_tree(self._log_root, log_directory_of(meta.namespace, meta.name, meta.uid))

    async def _try(self, sandbox: api_pb2.PodSandbox, name: str) -> None:
        listed = await self._client.list_containers(api_pb2.ContainerFilter(pod_sandbox_id=sandbox.id))
        inside = [found for found in listed if found.pod_sandbox_id == sandbox.id]
        # A container whose state the runtime does not know may run.
        alive = [found for found in inside if found.state != api_pb2.CONTAINER_EXITED]
        for found in alive:
            container = found.labels.get(labels.CONTAINER_NAME, found.metadata.name)[:NAME_CHARS_MAX]
            # Without a manifest every container counts as a regular one, as in the kubelet (Pod.ToAPIPod).
            path, said = field_path("regular", container), messages.stopping(container)
            self._host.recorder.record(sandbox.metadata.uid, name, "Normal", messages.KILLING, said, path)
        await asyncio.gather(*(self._stop(found.id) for found in alive))
        await self._client.stop_pod_sandbox(sandbox.id)
        await self._client.remove_pod_sandbox(sandbox.id)

    async def _stop(self, container_id: str) -> None:
        with suppress(errors.NotFound):
            await self._client.stop_container(container_id, GRACE_SECONDS)


def _is_ours(sandbox: api_pb2.PodSandbox) -> bool:
    """Whether a sandbox is one that probelet made, so that the directories of its name and UID are its own.

    Another client of the runtime may have set our label on a sandbox of any name, or on one that bears the name of a
    living pod: probelet chose by the label which pod to end, so the metadata has to agree with the labels.
    """
    meta = sandbox.metadata
    named = {labels.POD_NAMESPACE: meta.namespace, labels.POD_NAME: meta.name, labels.POD_UID: meta.uid}
    wrong = dns1123_label(meta.namespace) + dns1123_subdomain(meta.name) + pod_uid(meta.uid)
    return not wrong and all(sandbox.labels.get(label) == value for label, value in named.items())
