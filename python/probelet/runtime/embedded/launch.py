"""Starts the embedded runtime from the program that owns it."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import Literal

from probelet.base import open_files, package_root
from probelet.base.logs.rotation import LogLimits
from probelet.errors import ProbeletError

Isolation = Literal["none", "namespace"]
"""The isolation of a runtime's pods from the machine."""

SOCKET_PATH_BYTES_MAX = 107
"""Longest path in sockaddr_un on Linux, without the terminating zero."""

READY_SECONDS = 30.0
"""Limit for an interpreter to start and import gRPC; an idle machine needs a fifth of a second."""

CLOSE_SECONDS = 5.0
"""Time for guard and runtime to end on their own; they promise one second."""


LOG_LIMITS = LogLimits()
"""The kubelet's defaults."""


class LaunchError(ProbeletError):
    """The embedded runtime did not start; the message is one line for the user."""


class EmbeddedRuntime:
    """A running embedded runtime. It ends with ``aclose``, or with this process however that ends."""

    def __init__(self, endpoint: str, root: Path, process: Process, owner: socket.socket) -> None:
        self.endpoint = endpoint
        """The endpoint for ``RuntimeClient``."""
        self.log_directory = root / "logs"
        """A directory for container logs that the end of the runtime removes; the client may choose another."""
        self.process = process
        """The guard's process."""
        self._owner = owner

    async def wait(self) -> int:
        """Waits for the runtime's end: 0 after ``aclose``, 1 if it died (then its containers died too)."""
        return await self.process.wait()

    async def aclose(self) -> None:
        """Kills every container, ends the runtime and removes its files. A second call does nothing."""
        self._owner.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


async def launch(
    state_dir: Path, log_limits: LogLimits = LOG_LIMITS, isolate: Isolation = "none", *, has_users: bool = False
) -> EmbeddedRuntime:
    """Starts the embedded runtime under ``state_dir``/runtime and waits until it serves. Raises LaunchError.

    ``namespace`` gives each pod a network namespace, and with ``has_users`` a container runs as the user that its
    configuration names; for both this process must be root.
    """
    path = _socket_path(state_dir)
    root = path.parent
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = await _start(root, path, log_limits, theirs.fileno(), isolate, has_users=has_users)
        ours.setblocking(False)
        endpoint = await _ready(ours, process)
    except BaseException:
        ours.close()
        raise
    return EmbeddedRuntime(endpoint, root, process, ours)


def _socket_path(state_dir: Path) -> Path:
    path = state_dir.absolute() / "runtime" / "cri.sock"
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES_MAX:
        limit = SOCKET_PATH_BYTES_MAX
        raise LaunchError(f"state directory {state_dir}: too long for a socket in it (at most {limit} bytes: {path})")
    return path


async def _start(
    root: Path, path: Path, log_limits: LogLimits, owner_fd: int, isolate: Isolation, *, has_users: bool
) -> Process:
    bytes_max = [] if log_limits.bytes_max is None else ["--log-bytes-max", str(log_limits.bytes_max)]
    # The runtime and its containers have the limits with which this process was started.
    inherited = open_files.inherited()
    files = [] if inherited is None else ["--open-files", str(inherited)]
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "probelet.runtime.embedded"),
        *("--socket", str(path), "--root", str(root), "--owner-fd", str(owner_fd), "--isolate", isolate),
        *("--log-files-max", str(log_limits.files_max), *bytes_max, *files),
        *(("--users",) if has_users else ()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        env=package_root.environment(),
        pass_fds=(owner_fd,),
        # The owner handles Ctrl-C in a terminal: it drains, and the containers must live until then.
        start_new_session=True,
    )


async def _ready(owner: socket.socket, process: Process) -> str:
    line = b""
    try:
        async with asyncio.timeout(READY_SECONDS):
            while not line.endswith(b"\n"):
                data = await asyncio.get_running_loop().sock_recv(owner, 4096)
                if not data:
                    raise LaunchError(f"embedded runtime: ended with exit code {await process.wait()} while starting")
                line += data
    except TimeoutError:
        raise LaunchError(f"embedded runtime: not ready within {READY_SECONDS:g} s") from None
    news = json.loads(line)
    if "ready" not in news:
        await process.wait()
        raise LaunchError(f"embedded runtime: {news['error']}")
    return str(news["ready"])
