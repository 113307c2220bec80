"""ExecSync: runs one command in a container's environment, with a time limit and capped output."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.pipe import PipeReader
from probelet.runtime.embedded.child.spawn import spawn
from probelet.runtime.embedded.host import Host
from probelet.runtime.embedded.pod.container import Container

STREAM_BYTES_MAX = 16 * 1024
"""Limit of stdout and of stderr; the prober keeps 10 KiB of both. The runtime reads and discards the rest."""

READ_BYTES = 64 * 1024
READ_PAUSE_SECONDS = 0.001
"""64 KiB per millisecond: as fast as a sane command writes, and no busy loop for endless output."""

WIDE_STREAMS_MAX = 4
"""How many streams beyond ``STREAM_BYTES_MAX`` are read from wide pipes at once, 1 MiB per millisecond: a probe that
writes a gigabyte ends in seconds as under containerd, and many of them take no more than one processor."""

IN_FLIGHT_MAX = 512
"""Each run in flight takes a process and two pipes; 500 pods with one exec probe each stay below this."""


class ExecSync:
    """Runs commands in containers and counts the runs in flight."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._in_flight = 0
        self._wide = 0

    async def run(self, container: Container, cmd: Sequence[str], limit: float) -> api_pb2.ExecSyncResponse:
        """Runs ``cmd`` for at most ``limit`` seconds; 0 means no limit.

        Raises DeadlineExceeded after killing the command's process group, and RuntimeRefused if the command cannot
        start. Background processes that hold the output open do not delay the answer (in containerd they do, for
        minutes); they live on in the container.
        """
        container.require_running_for_exec()
        self._host.require_open()
        if not cmd:
            raise errors.InvalidArgument("exec: the command is empty")
        if self._in_flight >= IN_FLIGHT_MAX:
            raise errors.ResourceExhausted(f"{IN_FLIGHT_MAX} exec runs are in flight already")
        self._in_flight += 1
        with ExitStack() as open_pipes:
            open_pipes.callback(self._ended)
            stdout, stderr = self._capture(open_pipes), self._capture(open_pipes)
            exit_code = await self._exit_code(container, cmd, limit, stdout, stderr)
        return api_pb2.ExecSyncResponse(stdout=bytes(stdout.kept), stderr=bytes(stderr.kept), exit_code=exit_code)

    def _ended(self) -> None:
        self._in_flight -= 1

    def _capture(self, open_pipes: ExitStack) -> "_Capture":
        try:
            capture = _Capture(self._host.loop, self._widened)
        except OSError as error:
            raise errors.ResourceExhausted(f"failed to exec in container: {error.strerror}") from None
        open_pipes.callback(self._closed, capture)
        return capture

    def _widened(self, capture: "_Capture") -> None:
        if self._wide < WIDE_STREAMS_MAX and not capture.is_wide:
            self._wide += 1
            capture.is_wide = True
            capture.pipe.widen()

    def _closed(self, capture: "_Capture") -> None:
        capture.pipe.close()
        self._wide -= capture.is_wide

    async def _exit_code(
        self, container: Container, cmd: Sequence[str], limit: float, stdout: "_Capture", stderr: "_Capture"
    ) -> int:
        try:
            pid = spawn(
                cmd,
                container.environment,
                container.config.working_dir,
                stdout.pipe.writing_end,
                stderr.pipe.writing_end,
                container.network.namespace,
                container.user,
            )
        except errors.CriError as error:
            raise type(error)(f"failed to exec in container: {error.detail}") from None
        exited: asyncio.Future[int] = self._host.loop.create_future()
        alive = True

        def ended(exit_code: int) -> None:
            nonlocal alive
            alive = False
            if not exited.done():
                exited.set_result(exit_code)

        self._host.reaper.watch(pid, ended)
        stdout.pipe.start()
        stderr.pipe.start()
        try:
            async with asyncio.timeout(limit or None):
                return await exited
        except TimeoutError:
            detail = f"failed to exec in container: timeout {limit:g}s exceeded: context deadline exceeded"
            raise errors.DeadlineExceeded(detail) from None
        finally:
            # Also if the caller hung up: a run without a caller must end.
            if alive:
                process_tree.signal_group(pid, signal.SIGKILL)


class _Capture:
    """The beginning of one output stream. ``on_full`` is called with each read of what is not kept."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_full: "Callable[[_Capture], None]") -> None:
        self.kept = bytearray()
        self.is_wide = False
        self.pipe = PipeReader(loop, self._take, READ_BYTES)
        self._on_full = on_full

    def _take(self, data: bytes | memoryview) -> float:
        room = STREAM_BYTES_MAX - len(self.kept)
        self.kept += data[:room]
        if len(data) > room:
            self._on_full(self)
        return READ_PAUSE_SECONDS
