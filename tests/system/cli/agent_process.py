"""``probelet agent`` as a process of its own, against a scripted runtime and API server."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.unit.agent.made_pod import NODE
from tests.unit.agent.scripted_agent import World


@asynccontextmanager
async def agent(world: World, *words: str, **more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A running agent; the context's end ends it by SIGTERM."""
    process = await begun(world, *words, **more)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def begun(world: World, *words: str, **more: str) -> asyncio.subprocess.Process:
    """An agent that starts, with these words and flags."""
    flags = {
        "node": NODE,
        "kubeconfig": str(world.api.kubeconfig()),
        "runtime": f"unix://{world.folder / 'cri.sock'}",
        "state_dir": str(world.folder / "state"),
        "listen": f"unix:{world.folder / 'pages.sock'}",
        "log_format": "json",
        **more,
    }
    given = [part for name, value in flags.items() for part in (f"--{name.replace('_', '-')}", value)]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "probelet", "agent", *words, *given, stderr=subprocess.PIPE
    )


async def until(true: Callable[[], object]) -> None:
    for _ in range(600):
        if true():
            return
        await asyncio.sleep(0.05)
    raise TimeoutError
