"""The cost of looking for incidents: two ``probelet run`` side by side, with ``incidents`` true and false.

Both probe the same server at the same time, and their CPU is read over the same windows: what else the machine does
hits both, and each window is a pair. How the attempts of a process lie to each other changes what its engine's thread
costs by more than incidents do. So the pairs come from two runs with the order of the starts reversed, and the thread
of the event loop, in which the detector works, stands by itself. Both keep the history of every probe, which no setting
turns off.
"""

import asyncio
import socket
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml
from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

PODS: Final = 100
PERIOD_SECONDS: Final = 1
WINDOWS: Final = 12
WINDOW_SECONDS: Final = 5.0
Cpu: TypeAlias = tuple[float, float]
"""Of the event loop's thread, and of the whole process."""
Pair: TypeAlias = tuple[Cpu, Cpu]
"""With incidents and without."""
SETTLED_SECONDS: Final = 15.0
"""The time from a change of the server to the first window: an incident has begun and settled by then."""


def cost(windows: int = WINDOWS) -> dict[str, Any]:
    """The figures: micros of a core for an attempt."""
    well, failing = [], []
    for order in ((True, False), (False, True)):
        found = asyncio.run(_pairs(order, windows // 2))
        well += found[0]
        failing += found[1]
    figures = {"pods": PODS, "windows": len(well), "window_seconds": WINDOW_SECONDS}
    return {**figures, "well": _summed_up(well), "failing": _summed_up(failing)}


async def _pairs(order: tuple[bool, bool], windows: int) -> tuple[list[Pair], list[Pair]]:
    """The pairs while the probes are well, and while all of them fail."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = await asyncio.start_server(_answer, sock=listener)
        (folder / "pods.yaml").write_text(yaml.safe_dump_all(_pod(number, port) for number in range(PODS)))
        runs = {is_on: await stack.enter_async_context(_run(folder, is_on)) for is_on in order}
        await asyncio.sleep(SETTLED_SECONDS)
        well = await _windows(runs, windows)
        server.close()
        await asyncio.sleep(SETTLED_SECONDS)
        return well, await _windows(runs, windows)


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


async def _windows(runs: dict[bool, int], windows: int) -> list[Pair]:
    found: list[Pair] = []
    before = {is_on: _cpu(process) for is_on, process in runs.items()}
    for _ in range(windows):
        await asyncio.sleep(WINDOW_SECONDS)
        after = {is_on: _cpu(process) for is_on, process in runs.items()}
        on, off = (_for_an_attempt(before[is_on], after[is_on]) for is_on in (True, False))
        found.append((on, off))
        before = after
    return found


def _for_an_attempt(before: Cpu, after: Cpu) -> Cpu:
    """Micros of the loop's thread and of the process."""
    attempts = PODS * WINDOW_SECONDS / PERIOD_SECONDS
    return 1e6 * (after[0] - before[0]) / attempts, 1e6 * (after[1] - before[1]) / attempts


def _summed_up(pairs: list[Pair]) -> dict[str, float]:
    """The medians, and the middle half of the differences in the loop's thread."""
    more = sorted(on[0] - off[0] for on, off in pairs)
    quarter = len(more) // 4
    return {
        "loop_on": round(statistics.median(on[0] for on, _ in pairs), 1),
        "loop_off": round(statistics.median(off[0] for _, off in pairs), 1),
        "from": round(more[quarter], 1),
        "to": round(more[-1 - quarter], 1),
        "on": round(statistics.median(on[1] for on, _ in pairs), 1),
        "off": round(statistics.median(off[1] for _, off in pairs), 1),
    }


def _cpu(process: int) -> Cpu:
    """Seconds of the first thread, which is the event loop's, and of all threads; ticks of `stat` are as long as a
    hundred attempts."""
    threads = {
        task.parent.name: int(task.read_text().split()[0]) / 1e9
        for task in Path(f"/proc/{process}/task").glob("*/schedstat")
    }
    return threads[str(process)], sum(threads.values())
