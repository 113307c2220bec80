"""A node of real processes for each test."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from probelet._rust import Engine
from probelet.node.options import NodeOptions
from probelet.node.service import Service
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.embedded.launch import launch
from probelet.runtime.host import RuntimeHost

from tests.system.run.process_node import TARGET, ProcessNode

__all__ = ["TARGET", "ProcessNode", "node"]


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[ProcessNode]:
    folder = tmp_path / "manifests"
    folder.mkdir()
    async with AsyncExitStack() as stack:
        # The stack closes each part even if the next step fails: a leaked runtime would fail later tests.
        runtime = await launch(tmp_path)
        stack.push_async_callback(runtime.aclose)
        client = await stack.enter_async_context(RuntimeClient(runtime.endpoint))
        host = RuntimeHost(client, Engine(start_jitter=False), "node-a", on_host=True)
        logs = runtime.log_directory
        service = Service(host, RestartGate(), NodeOptions(log_root=logs))
        stack.push_async_callback(service.close)
        await service.start()
        yield ProcessNode(service, client, folder, logs)
        await service.pods.drain(at_once=True)
