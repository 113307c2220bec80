"""Rotates the logs of running containers on a CRI runtime (kubelet pkg/kubelet/logs/container_log_manager.go, 1.36).

The runtime writes a log and does not bound it. The embedded runtime rotates by itself.
"""

import asyncio
import gzip
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import structlog

from probelet.base.exposition.paced_log import PacedLog
from probelet.base.files import below
from probelet.base.logs.layout import log_name
from probelet.base.logs.rotation import COMPRESSED, LogLimits, excess, rotated_name, rotated_parts
from probelet.node.effects.cri_config import log_directory
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.runtime.cri import errors
from probelet.runtime.host import RuntimeHost
from probelet.spec.model.pod import Pod
from probelet.spec.text.container_id import bare_id

_UNFINISHED: Final = ".tmp"

log = structlog.get_logger("probelet.node")


class _HasPod(Protocol):
    @property
    def pod(self) -> Pod: ...


class LogRotation:
    """Looks at every running container's log each ``period_ns`` and rotates the large ones, one after another.

    Which files it touches depends on the pod and the restart count, not on a path that the runtime reports.
    """

    def __init__(
        self,
        host: RuntimeHost,
        pods: Mapping[str, _HasPod],
        *,
        log_root: Path,
        limits: LogLimits,
        period_ns: int,
    ) -> None:
        self._client = host.client
        self._cache = host.cache
        self._timers = host.timers
        self._pods = pods
        self._log_root = log_root
        self._limits = limits
        self._period_ns = period_ns
        self._failed = PacedLog(log.warning, "a container's log could not be rotated", host.timers.seconds)

    async def run(self) -> None:
        """Looks for ever. Returns at once if the limits forbid nothing."""
        while self._limits.bytes_max is not None:
            await self.rotate(self._limits.bytes_max)
            await self._timers.sleep(self._period_ns)

    async def rotate(self, bytes_max: int) -> None:
        """Rotates every log that has at least ``bytes_max`` bytes."""
        for pod, record in list(self._running()):
            names = log_directory(pod), record.name, log_name(record.restart_count)
            try:
                container_id = bare_id(record.id)
                if await self._size(container_id, names) >= bytes_max:
                    await asyncio.to_thread(self._make_room, names)
                    await self._rotate(container_id, names)
            except (OSError, errors.CriError) as error:
                self._failed(pod=pod.full_name, container=record.name, error=str(error))

    def _running(self) -> Iterator[tuple[Pod, ContainerRecord]]:
        for uid, node_pod in self._pods.items():
            for record in self._cache.snapshot(uid).running():
                yield node_pod.pod, record

    async def _size(self, container_id: str, names: tuple[str, ...]) -> int:
        """The size of a log. A runtime whose log is gone opens it again."""
        try:
            return self._size_now(names)
        except FileNotFoundError:
            await self._client.reopen_container_log(container_id)
            return self._size_now(names)

    def _size_now(self, names: tuple[str, ...]) -> int:
        *folders, name = names
        with below.directory(self._log_root, *folders) as folder:
            return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size

    def _make_room(self, names: tuple[str, ...]) -> None:
        """Removes the oldest parts and what failed rotations left, and compresses the parts that stay."""
        *folders, name = names
        parts, unfinished = rotated_parts(name, below.names_in(self._log_root, *folders))
        gone = excess(parts, self._limits)
        for part in (*unfinished, *gone):
            below.remove_file(self._log_root, *folders, part)
        for part in parts[len(gone) :]:
            if not part.endswith(COMPRESSED):
                self._compress((*folders, part))

    def _compress(self, names: tuple[str, ...]) -> None:
        *folders, name = names
        unfinished = (*folders, name + _UNFINISHED)
        with os.fdopen(below.open_to_read(self._log_root, *names), "rb") as plain:
            mode = os.fstat(plain.fileno()).st_mode
            try:
                with os.fdopen(below.open_to_replace(self._log_root, *unfinished), "wb") as out:
                    os.fchmod(out.fileno(), mode & 0o777)
                    with gzip.GzipFile(fileobj=out, mode="wb") as compressed:
                        shutil.copyfileobj(plain, compressed)
                below.rename(self._log_root, *unfinished, to=name + COMPRESSED)
            except OSError:
                with suppress(OSError):
                    below.remove_file(self._log_root, *unfinished)
                raise
        below.remove_file(self._log_root, *names)

    async def _rotate(self, container_id: str, names: tuple[str, ...]) -> None:
        """Renames the log and has the runtime begin a new one; the latest part stays uncompressed for its readers."""
        *folders, name = names
        rotated = rotated_name(name, self._timers.wall_ns())
        below.rename(self._log_root, *names, to=rotated)
        try:
            await self._client.reopen_container_log(container_id)
        except errors.CriError:
            # The next look tries again. A runtime that opened the file before it failed has written nothing of worth.
            below.rename(self._log_root, *folders, rotated, to=name)
            raise
