"""The message with which a container ended: what it wrote to its terminationMessagePath, or the end of its log.

Kubelet kuberuntime_container.go:convertToKubeContainerStatus, 1.36. The annotations say what was agreed when the
container was created, so a manifest that has changed since does not matter.
"""

import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from probelet.base.files import below
from probelet.base.logs.layout import log_directory_of, log_name
from probelet.node.effects.mounts.log_tail import log_tail
from probelet.node.effects.mounts.pod_files import PodFiles
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels

FILE_BYTES_MAX: Final = 4 * 1024
"""Bytes at the end of a file that count (``MaxContainerTerminationMessageLength``)."""

FALLBACK_TO_LOGS: Final = "FallbackToLogsOnError"

CANNOT_RUN: Final = "ContainerCannotRun"
"""The reason of a container that never ran, so that it has no log."""


class TerminationMessages:
    """``log_root`` is the root of the pods' logs."""

    def __init__(self, files: PodFiles, log_root: Path) -> None:
        self._files = files
        self._log_root = log_root

    def completed(self, uid: str, status: api_pb2.ContainerStatus, record: ContainerRecord) -> ContainerRecord:
        """The record of a container that has exited, with the container's own words after the runtime's."""
        own = self._own(uid, status)
        return replace(record, message=": ".join(text for text in (record.message, own) if text))

    def _own(self, uid: str, status: api_pb2.ContainerStatus) -> str:
        container, count = status.labels.get(labels.CONTAINER_NAME, ""), labels.restart_count(status.annotations)
        if status.annotations.get(labels.MESSAGE_PATH):
            try:
                written = self._files.end_of_message(uid, container, count, FILE_BYTES_MAX)
            except OSError as error:
                return f"Error on reading termination log {container}/{count}: {error.strerror}"
            if written:
                return written.decode(errors="replace")
        failed = status.exit_code != 0 and status.reason != CANNOT_RUN
        if failed and status.annotations.get(labels.MESSAGE_POLICY) == FALLBACK_TO_LOGS:
            return self._from_log(uid, status, container, count)
        return ""

    def _from_log(self, uid: str, status: api_pb2.ContainerStatus, container: str, count: int) -> str:
        namespace, name = (status.labels.get(label, "") for label in (labels.POD_NAMESPACE, labels.POD_NAME))
        try:
            fd = below.open_to_read(self._log_root, log_directory_of(namespace, name, uid), container, log_name(count))
        except OSError as error:
            return f"Error on reading termination message from logs: {error.strerror}"
        try:
            return log_tail(fd).decode(errors="replace")
        finally:
            os.close(fd)
