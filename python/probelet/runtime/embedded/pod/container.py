"""One container: a process in its own session, its log, and its CRI states."""

import asyncio
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.pipe import PipeReader
from probelet.runtime.embedded.child.spawn import environment, quoted, spawn
from probelet.runtime.embedded.child.user import User
from probelet.runtime.embedded.host import Host
from probelet.runtime.embedded.pod.log import LINE_BYTES_MAX, ContainerLog, LogPath, StreamName
from probelet.runtime.embedded.pod.network import PodNetwork

START_ERROR_EXIT_CODE = 128
"""Exit code of a container whose command could not start (containerd's errorStartExitCode, reason StartError)."""

LOG_PAUSE_SECONDS = 0.01
"""Pause between two reads of a stream: 1.6 MB/s of output, more than a person or a collector reads."""

LOG_BYTES_PER_SECOND_MAX = 4 * 1024 * 1024
"""Very short lines grow twentyfold in the log; this bounds the log bytes per second of one stream."""

ADDRESS_IN_USE = (b"address already in use", b"eaddrinuse", b"addrinuse")
"""The phrases by which C, Go, Java, Rust, Python and Node programs report a taken port."""

Publish = Callable[["Container", api_pb2.ContainerEventType], None]


def stop_signal(config: api_pb2.ContainerConfig) -> signal.Signals:
    """The first signal of StopContainer. Raises InvalidArgument for a signal that this machine does not have."""
    if config.stop_signal == api_pb2.SIGNAL_RUNTIME_DEFAULT:
        return signal.SIGTERM
    name = api_pb2.Signal.Name(config.stop_signal).removeprefix("SIGNAL_")
    try:
        return signal.Signals[name]
    except KeyError:
        raise errors.InvalidArgument(f"stop signal {name}: not supported by the embedded runtime") from None


class Container:
    """A container in state Created, Running or Exited. It calls ``publish`` at every change of state."""

    def __init__(
        self,
        host: Host,
        pod_sandbox_id: str,
        network: PodNetwork,
        config: api_pb2.ContainerConfig,
        log_path: LogPath | None,
        publish: Publish,
        user: User | None = None,
    ) -> None:
        """``user`` runs the container's processes; None: the user of the runtime."""
        self.id = secrets.token_hex(32)
        self.pod_sandbox_id = pod_sandbox_id
        self.network = network
        self.config = config
        self.log_path = log_path
        self.user = user
        self.state: api_pb2.ContainerState = api_pb2.CONTAINER_CREATED
        self.environment = environment(config, self.id, network.ip, host.root, network.host_ip, user)
        self._host = host
        self._publish = publish
        self._stop_signal = stop_signal(config)
        self._stop_signalled = False
        self._pid = 0
        self._log: ContainerLog | None = None
        self._pipes: list[PipeReader] = []
        self._exited = asyncio.Event()
        self._created_at = time.time_ns()
        self._started_at = 0
        self._finished_at = 0
        self._exit_code = 0
        self._reason = ""
        self._message = ""

    @property
    def running(self) -> bool:
        """True while the first process lives; false during the kill of the remaining processes."""
        return self.state == api_pb2.CONTAINER_RUNNING and not self._finished_at

    @property
    def first_process(self) -> int:
        """The pid of the command's own process; 0 before the start."""
        return self._pid

    def require_running_for_exec(self) -> None:
        """Raises RuntimeRefused, in containerd's words, unless the container runs."""
        if not self.running:
            exited = self.state == api_pb2.CONTAINER_RUNNING
            state = api_pb2.ContainerState.Name(api_pb2.CONTAINER_EXITED if exited else self.state)
            raise errors.RuntimeRefused(f"failed to exec in container: container is in {state} state")

    def start(self) -> None:
        """Starts the command. If that fails, raises RuntimeRefused; the container is then Exited with StartError."""
        if self.state != api_pb2.CONTAINER_CREATED:
            raise errors.FailedPrecondition(f"container is in {api_pb2.ContainerState.Name(self.state)} state")
        self._host.require_open()
        try:
            self._start()
        except (errors.CriError, OSError) as error:
            reason = error.detail if isinstance(error, errors.CriError) else str(error)
            self._message = f"failed to start container {quoted(self.id)}: {reason}"
            self._finished_at = time.time_ns()
            self._exit_code = START_ERROR_EXIT_CODE
            self._exit("StartError")
            raise errors.RuntimeRefused(self._message) from None
        self._started_at = time.time_ns()
        self.state = api_pb2.CONTAINER_RUNNING
        self._publish(self, api_pb2.CONTAINER_STARTED_EVENT)

    def _start(self) -> None:
        self._log = ContainerLog(self.log_path, self._host.log_limits)
        stdout, stderr = self._pipe("stdout", self._log), self._pipe("stderr", self._log)
        argv = [*self.config.command, *self.config.args]
        self._pid = spawn(
            argv,
            self.environment,
            self.config.working_dir,
            stdout.writing_end,
            stderr.writing_end,
            self.network.namespace,
            self.user,
        )
        self._host.orphans.add_first_process(self._pid)
        self._host.reaper.watch(self._pid, self._first_process_exited)
        stdout.start()
        stderr.start()

    def _pipe(self, stream: StreamName, log: ContainerLog) -> PipeReader:
        def take(data: bytes | memoryview) -> float:
            return max(LOG_PAUSE_SECONDS, log.write(stream, bytes(data)) / LOG_BYTES_PER_SECOND_MAX)

        self._pipes.append(PipeReader(self._host.loop, take, LINE_BYTES_MAX))
        return self._pipes[-1]

    def _first_process_exited(self, exit_code: int) -> None:
        self._finished_at = time.time_ns()
        self._exit_code = exit_code
        self._kill()
        self._host.orphans.clear(self.id, self._pid, self._cleared)

    def _cleared(self) -> None:
        """Publishes the exit: no process of the container is left, so its address and ports are free."""
        self._exit("Error" if self._exit_code else "Completed")

    def _exit(self, reason: str) -> None:
        self._reason = reason
        for pipe in self._pipes:
            pipe.close()
        if self._log is not None:
            self._log.close()
            self._message = self._message or self._explanation(self._log)
        self.state = api_pb2.CONTAINER_EXITED
        self._exited.set()
        self._publish(self, api_pb2.CONTAINER_STOPPED_EVENT)

    def _explanation(self, log: ContainerLog) -> str:
        """The message of a container that failed: the last lines of its log, as with
        ``terminationMessagePolicy: FallbackToLogsOnError``, and a hint if probelet knows the cause."""
        if not self._exit_code:
            return ""
        lines = log.last_lines()
        is_shared = self.network.namespace is None
        if is_shared and any(words in log.tail.lower() for words in ADDRESS_IN_USE):
            lines.append(
                "the log says that the address is already in use: every pod has an address of its own here, "
                f"so bind $POD_IP ({self.network.ip}) instead of 0.0.0.0; "
                "a program of this machine that listens on 0.0.0.0 has its port on every pod's address"
            )
        return "\n".join(lines)

    def _kill(self) -> None:
        """SIGKILLs the first process's group. After its exit the orphan search finds the rest."""
        process_tree.signal_group(self._pid, signal.SIGKILL)

    async def stop(self, grace_seconds: float) -> None:
        """Signals the group, waits ``grace_seconds``, sends SIGKILL; returns once no process is left."""
        if self.running and grace_seconds > 0:
            if not self._stop_signalled:
                self._stop_signalled = True
                process_tree.signal_group(self._pid, self._stop_signal)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), grace_seconds)
        if self.running:
            self._kill()
        if self.state == api_pb2.CONTAINER_RUNNING:
            await self._exited.wait()

    def status(self) -> api_pb2.ContainerStatus:
        """The container's full CRI status."""
        return api_pb2.ContainerStatus(
            id=self.id,
            metadata=self.config.metadata,
            state=self.state,
            created_at=self._created_at,
            started_at=self._started_at,
            finished_at=self._finished_at if self.state == api_pb2.CONTAINER_EXITED else 0,
            exit_code=self._exit_code if self.state == api_pb2.CONTAINER_EXITED else 0,
            image=self.config.image,
            image_ref=self.config.image.image,
            reason=self._reason,
            message=self._message,
            labels=self.config.labels,
            annotations=self.config.annotations,
            mounts=self.config.mounts,
            log_path=str(self.log_path or ""),
            stop_signal=self.config.stop_signal,
        )

    def row(self) -> api_pb2.Container:
        """The container's entry in ListContainers."""
        return api_pb2.Container(
            id=self.id,
            pod_sandbox_id=self.pod_sandbox_id,
            metadata=self.config.metadata,
            image=self.config.image,
            image_ref=self.config.image.image,
            state=self.state,
            created_at=self._created_at,
            labels=self.config.labels,
            annotations=self.config.annotations,
        )
