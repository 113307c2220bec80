"""KEP-4603's end-to-end test: a container that crashes ten times, its own timestamps read back from its log.

A restart is never early. How late it is depends on the machine and is not judged.
"""

import asyncio
from contextlib import AsyncExitStack
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from probelet._rust import Engine
from probelet.node.options import NodeOptions
from probelet.node.service import Service
from probelet.policy.node.restart_gate import GateOptions, RestartGate
from probelet.policy.protocol.actions import Publish
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.embedded.launch import launch
from probelet.runtime.host import RuntimeHost
from probelet.spec.model.pod import Pod
from probelet.spec.read.load import Manifest
from probelet.spec.rules.defaults import set_defaults

pytestmark = pytest.mark.e2e

INITIAL_MS, MAX_MS, RESTARTS = 200, 1_600, 10
DELAYS_MS = [0, 200, 400, 800, *[1_600] * 6]

POD = {
    "metadata": {"name": "crash", "namespace": "default", "uid": "uid-crash"},
    "spec": {"containers": [{"name": "app", "image": "i", "command": ["sh", "-c", "date +%s.%N; exit 1"]}]},
}


@pytest.mark.slow
async def test_ten_restarts_are_at_least_their_back_off_apart(tmp_path: Path) -> None:
    message: dict[int, Decimal] = {}
    async with AsyncExitStack() as stack:
        runtime = await launch(tmp_path)
        stack.push_async_callback(runtime.aclose)
        client = await stack.enter_async_context(RuntimeClient(runtime.endpoint))

        def read_log(uid: str, publish: Publish) -> None:
            """Reads the log of each instance at its published end: the runtime removes the log some restarts later."""
            for path in runtime.log_directory.glob("default_crash_*/app/*.log"):
                for line in path.read_text().splitlines():
                    message[int(path.stem)] = Decimal(line.split(" ", 3)[3])

        service = Service(
            RuntimeHost(client, Engine(start_jitter=False), "node-a", on_host=True),
            RestartGate(GateOptions(initial_ns=INITIAL_MS * 1_000_000, max_ns=MAX_MS * 1_000_000)),
            NodeOptions(log_root=runtime.log_directory, on_publish=read_log),
        )
        stack.push_async_callback(service.close)
        await service.start()
        service.pods.set([Manifest(set_defaults(msgspec.convert(POD, Pod)), Path("crash.yaml"), 1, "digest")])
        while len(message) <= RESTARTS:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await service.pods.drain(at_once=True)
    moments = [message[life] for life in range(RESTARTS + 1)]
    gaps = [(after - before) * 1_000 for before, after in pairwise(moments)]
    assert len(gaps) == len(DELAYS_MS) == RESTARTS
    assert [gap for gap, delay in zip(gaps, DELAYS_MS, strict=True) if gap < delay] == []
