"""Starting the embedded runtime from the program that owns it."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import Process
from pathlib import Path

import probelet
from probelet.errors import ProbeletError

SOCKET_PATH_BYTES_MAX = 107
"""What fits into sockaddr_un on Linux with its terminating zero."""

READY_SECONDS = 30.0
"""For an interpreter to start and import gRPC; a fifth of a second on an idle machine."""

CLOSE_SECONDS = 5.0
"""For guard and runtime to end by themselves; they promise one second."""


class LaunchError(ProbeletError):
    """The embedded runtime did not start; the text is one line for the user."""


class EmbeddedRuntime:
    """A running embedded runtime. It ends when ``aclose`` is called or when this process does, however it does."""

    def __init__(self, endpoint: str, root: Path, process: Process, owner: socket.socket) -> None:
        self.endpoint = endpoint
        """For ``RuntimeClient``."""
        self.log_directory = root / "logs"
        """A place for container logs that goes when the runtime goes."""
        self.process = process
        """The guard."""
        self._owner = owner

    async def wait(self) -> int:
        """Wait for the runtime's end: 0 after ``aclose``, 1 when it died by itself (its containers died with it)."""
        return await self.process.wait()

    async def aclose(self) -> None:
        """Kill every container, end the runtime, remove its files. Closing twice is fine."""
        self._owner.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


async def launch(state_dir: Path) -> EmbeddedRuntime:
    """Start the embedded runtime under ``state_dir``/runtime and wait until it serves. Raises LaunchError."""
    path = _socket_path(state_dir)
    root = path.parent
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = await _start(root, path, theirs.fileno())
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


async def _start(root: Path, path: Path, owner_fd: int) -> Process:
    package_root = str(Path(probelet.__file__).parent.parent)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "probelet.cri.process"),
        *("--socket", str(path), "--root", str(root), "--owner-fd", str(owner_fd)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))},
        pass_fds=(owner_fd,),
        # Ctrl-C in a terminal is the owner's to handle: it drains, and the containers must live until then.
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
