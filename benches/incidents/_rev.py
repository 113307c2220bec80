"""The cost of looking for incidents: two ``probelet run`` side by side, with ``incidents`` true and false.

Both probe the same server at the same time, and their CPU is read over the same windows: what else the machine does
hits both, and each window is a pair. Both keep the history of every probe, which no setting turns off.
"""

import asyncio
import socket
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import yaml
from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

PODS: Final = 100
PERIOD_SECONDS: Final = 1
WINDOWS: Final = 15
WINDOW_SECONDS: Final = 6.0
SETTLED_SECONDS: Final = 15.0
"""The time from a change of the server to the first window: an incident has begun and settled by then."""


def cost(windows: int = WINDOWS) -> dict[str, Any]:
    """The figures: micros of a core for an attempt, of both processes."""
    return asyncio.run(_cost(windows))


async def _cost(windows: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = await asyncio.start_server(_answer, sock=listener)
        (folder / "pods.yaml").write_text(yaml.safe_dump_all(_pod(number, port) for number in range(PODS)))
        runs = [await stack.enter_async_context(_run(folder, is_on)) for is_on in (False, True)]
        await asyncio.sleep(SETTLED_SECONDS)
        well = await _windows(runs, windows)
        server.close()
        await asyncio.sleep(SETTLED_SECONDS)
        failing = await _windows(runs, windows)
    return {"pods": PODS, "windows": windows, "window_seconds": WINDOW_SECONDS, "well": well, "failing": failing}


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


def _pod(number: int, port: int) -> dict[str, Any]:
    action = {"host": "127.0.0.1", "port": port, "path": "/"}
    probe = {"periodSeconds": PERIOD_SECONDS, "timeoutSeconds": 1, "httpGet": action}
    container = {"name": "app", "command": ["sleep", "100000"], "readinessProbe": probe}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec}


@asynccontextmanager
async def _run(folder: Path, is_on: bool) -> AsyncIterator[int]:
    """A ``probelet run`` whose pods are all ready; its process."""
    own = folder / ("on" if is_on else "off")
    own.mkdir()
    head = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"
    (own / "config.yaml").write_text(f"{head}incidents: {str(is_on).lower()}\n")
    flags = ("--config", own / "config.yaml", "--state-dir", own / "state", "--listen", "127.0.0.1:0")
    command = (sys.executable, "-m", "probelet", "run", folder / "pods.yaml", *flags)
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=quiet, stderr=quiet)
    try:
        while not _are_ready(own / "state"):
            assert process.returncode is None, "probelet run has ended"
            await asyncio.sleep(0.5)
        yield process.pid
    finally:
        process.terminate()
        await process.wait()


def _are_ready(state: Path) -> bool:
    try:
        pods = Client(state).status()["pods"]
    except NotRunningError:
        return False
    return len(pods) == PODS and all(pod["ready"] for pod in pods)


async def _windows(processes: list[int], windows: int) -> dict[str, float]:
    """Micros for an attempt in each process, and the middle and the spread of the pairs' differences."""
    micros: list[tuple[float, float]] = []
    before = [_cpu_seconds(process) for process in processes]
    for _ in range(windows):
        await asyncio.sleep(WINDOW_SECONDS)
        after = [_cpu_seconds(process) for process in processes]
        attempts = PODS * WINDOW_SECONDS / PERIOD_SECONDS
        on, off = (1e6 * (now - then) / attempts for now, then in zip(after, before, strict=True))
        micros.append((on, off))
        before = after
    more = sorted(on - off for on, off in micros)
    quarter = len(more) // 4
    return {
        "on": round(statistics.median(on for on, _ in micros), 1),
        "off": round(statistics.median(off for _, off in micros), 1),
        "more": round(statistics.median(more), 1),
        "from": round(more[quarter], 1),
        "to": round(more[-1 - quarter], 1),
    }


def _cpu_seconds(process: int) -> float:
    """CPU of its threads; the ticks of `stat` are as long as a hundred attempts."""
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{process}/task").glob("*/schedstat")) / 1e9
