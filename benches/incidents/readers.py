"""The cost of the page's stream: a ``probelet run`` with 500 pods and 50 readers, and the same process with none.

Windows with readers and without take turns, because what else the machine does changes in between. Readers ask as the
page's script does: for what is new since their last answer, and again after the time that the answer names.
"""

import asyncio
import contextlib
import socket
import statistics
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import aiohttp

from benches.incidents.process import answering, cpu, run, write_pods

PODS: Final = 500
READERS: Final = 50
PERIOD_SECONDS: Final = 10
PAIRS: Final = 6
WINDOW_SECONDS: Final = 20.0
WARM_SECONDS: Final = 10.0
"""The first answers have all rows; a reader gets them once."""
WAIT_LEAST_SECONDS: Final = 0.5
"""The least time between two requests of the page's script."""


def readers(pairs: int = PAIRS, pods: int = PODS) -> dict[str, Any]:
    """The figures: shares of a core, in percent."""
    return asyncio.run(_measured(pairs, pods))


async def _measured(pairs: int, pods: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        server, port = await answering()
        stack.callback(server.close)
        write_pods(folder, pods, port, PERIOD_SECONDS)
        pages = f"127.0.0.1:{_free_port()}"
        process = await stack.enter_async_context(run(folder, pods, "incidents: true", pages))
        found: dict[int, list[tuple[float, float]]] = {0: [], READERS: []}
        answers, size = 0, 0
        for _ in range(pairs):
            for count in found:
                crowd = _Crowd(f"http://{pages}/heartbeats", count)
                async with crowd:
                    await asyncio.sleep(WARM_SECONDS)
                    crowd.answers = crowd.bytes = 0
                    before = cpu(process)
                    await asyncio.sleep(WINDOW_SECONDS)
                    after = cpu(process)
                answers, size = answers + crowd.answers, size + crowd.bytes
                shares = [100 * (late - early) / WINDOW_SECONDS for early, late in zip(before, after, strict=True)]
                found[count].append((shares[0], shares[1]))
    return {
        "pods": pods,
        "readers": READERS,
        "pairs": pairs,
        "window_seconds": WINDOW_SECONDS,
        "answers_a_second": round(answers / (pairs * WINDOW_SECONDS), 1),
        "kib_an_answer": round(size / max(1, answers) / 1024, 1),
        "none": _middle(found[0]),
        "with": _middle(found[READERS]),
        "more": round(statistics.median(on[0] - off[0] for off, on in zip(*found.values(), strict=True)), 2),
    }


class _Crowd:
    """Readers, each with a connection of its own."""

    def __init__(self, url: str, count: int) -> None:
        self.answers = 0
        self.bytes = 0
        self._url = url
        self._count = count
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "_Crowd":
        self._tasks = [asyncio.create_task(self._read()) for _ in range(self._count)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _read(self) -> None:
        version = 0
        async with aiohttp.ClientSession() as session:
            while True:
                async with session.get(self._url, params={"since": str(version)}) as answer:
                    answer.raise_for_status()
                    self.bytes += len(await answer.read())
                    fresh = await answer.json()
                self.answers += 1
                version = fresh["version"]
                await asyncio.sleep(max(WAIT_LEAST_SECONDS, fresh["next_ms"] / 1_000))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def _middle(shares: list[tuple[float, float]]) -> dict[str, float]:
    """The medians of the event loop's thread and of the whole process."""
    return {
        "loop": round(statistics.median(loop for loop, _ in shares), 2),
        "process": round(statistics.median(process for _, process in shares), 2),
    }
