"""A ``probelet run`` in a process of its own, with pods that a server of the benchmark answers for, and its CPU."""

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

Cpu: TypeAlias = tuple[float, float]
"""Seconds of the event loop's thread, and of the whole process."""


async def answering() -> tuple[asyncio.Server, int]:
    """A server that answers every request with 200, and its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    return await asyncio.start_server(_answer, sock=listener), listener.getsockname()[1]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    # A prober whose time is over leaves without a request.
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
    writer.close()


def write_pods(folder: Path, pods: int, port: int, period_seconds: int) -> None:
    """Writes the manifest that ``run`` reads: pods whose readiness asks this port."""
    made = (_pod(number, port, period_seconds) for number in range(pods))
    (folder / "pods.yaml").write_text(yaml.safe_dump_all(made))


def _pod(number: int, port: int, period_seconds: int) -> dict[str, Any]:
    action = {"host": "127.0.0.1", "port": port, "path": "/"}
    probe = {"periodSeconds": period_seconds, "timeoutSeconds": min(period_seconds, 5), "httpGet": action}
    container = {"name": "app", "command": ["sleep", "100000"], "readinessProbe": probe}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec}


@asynccontextmanager
async def run(folder: Path, pods: int, setting: str, listen: str = "127.0.0.1:0") -> AsyncIterator[int]:
    """A ``probelet run`` with this line in its configuration, whose pods are all ready; its process."""
    own = folder / setting.replace(": ", "-")
    own.mkdir()
    head = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"
    (own / "config.yaml").write_text(f"{head}{setting}\n")
    flags = ("--config", own / "config.yaml", "--state-dir", own / "state", "--listen", listen)
    command = (sys.executable, "-m", "probelet", "run", folder / "pods.yaml", *flags)
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=quiet, stderr=quiet)
    try:
        while not _are_ready(own / "state", pods):
            assert process.returncode is None, "probelet run has ended"
            await asyncio.sleep(0.5)
        yield process.pid
    finally:
        process.terminate()
        await process.wait()


def _are_ready(state: Path, count: int) -> bool:
    try:
        pods = Client(state).status()["pods"]
    except NotRunningError:
        return False
    return len(pods) == count and all(pod["ready"] for pod in pods)


def cpu(process: int) -> Cpu:
    """Seconds of the first thread, which is the event loop's, and of all threads; ticks of `stat` are as long as a
    hundred attempts."""
    threads = {
        task.parent.name: int(task.read_text().split()[0]) / 1e9
        for task in Path(f"/proc/{process}/task").glob("*/schedstat")
    }
    return threads[str(process)], sum(threads.values())
