"""``probelet agent`` as a process of its own, against a scripted runtime and API server."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.unit.agent.made_pod import NODE
from tests.unit.agent.scripted_agent import AgentNode


@asynccontextmanager
async def agent(bare_node: AgentNode, *words: str, **more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A running agent; the context's end ends it by SIGTERM."""
    process = await begun(bare_node, *words, **more)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def begun(bare_node: AgentNode, *words: str, **more: str) -> asyncio.subprocess.Process:
    """An agent that starts, with these words and flags."""
    flags = {
        "node": NODE,
        "kubeconfig": str(bare_node.api.kubeconfig()),
        "runtime": f"unix://{bare_node.folder / 'cri.sock'}",
        "state_dir": str(bare_node.folder / "state"),
        "listen": f"unix:{bare_node.folder / 'pages.sock'}",
        "log_format": "json",
        **more,
    }
    given = [part for name, value in flags.items() for part in (f"--{name.replace('_', '-')}", value)]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "probelet", "agent", *words, *given, stderr=subprocess.PIPE
    )
