"""The same probes made by the kubelet's own ``prober.Manager``, in a process of its own."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from benches.agent.load import LIVENESS_SECONDS, READINESS_SECONDS
from benches.engines.kubelet import ENGINE

NAME: Final = "kubelet's prober, by itself"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def native(pods: int, seconds: float, warm: float, serve: Serve) -> dict[str, Any]:
    """The row of the kubelet's prober. Its memory is what workers and pods add to a process without any."""
    target = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    async with target:
        port = target.sockets[0].getsockname()[1]
        command = [*ENGINE.program, "mix", "--mix", f"http={pods}", "--target", f"127.0.0.1/32:{port}"]
        command += ["--period", f"{READINESS_SECONDS}s", "--liveness", f"{LIVENESS_SECONDS}s"]
        command += ["--warm", f"{warm:g}s", "--duration", f"{seconds:g}s"]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        found = json.loads((await process.communicate())[0])
    assert found["false_failures"] == 0, found
    return {
        "prober": NAME,
        "pods": pods,
        "seconds": seconds,
        "rss_mib": round(found["bytes_per_worker"] * pods / 2**20, 1),
        "cpu_percent": round(found["cpu_us_per_probe"] * found["probes"] / found["seconds"] / 1e4, 2),
        "runtime_calls_a_second": 0.0,
    }
