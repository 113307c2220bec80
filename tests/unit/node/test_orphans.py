"""A pod that an earlier probelet left, while a manifest has a mistake."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri import errors

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, make_service, observed_node
from tests.unit.node.scripted_runtime import ScriptedRuntime


@pytest.fixture
async def left(tmp_path: Path) -> AsyncIterator[tuple[ScriptedNode, ScriptedRuntime]]:
    """A node whose earlier service has left two pods."""
    runtime = ScriptedRuntime()
    async with observed_node(runtime, RestartGate(), tmp_path) as node:
        node.service.pods.set([make_manifest("old"), make_manifest("kept")])
        await node.until(lambda: node.pod("old").get("ready") and node.pod("kept").get("ready"))
        yield node, runtime


async def test_orphans_end_once_no_manifest_has_a_mistake(
    left: tuple[ScriptedNode, ScriptedRuntime], tmp_path: Path
) -> None:
    node, runtime = left
    await node.service.close()
    later = make_service(node.client, RestartGate(), tmp_path)
    node.service = later
    await later.start()
    later.pods.set([make_manifest("kept")])
    right = asyncio.Event()
    task = asyncio.ensure_future(later.remove_orphans_later(right))
    for _ in range(20):
        await node.round_trip()
    assert {box.metadata.name for box in runtime.sandboxes.values()} == {"old", "kept"}
    # A runtime that does not answer does not end the service.
    runtime.refuse["list_pod_sandbox"] = errors.RuntimeRefused("later")
    right.set()
    for _ in range(5):
        await node.round_trip()
    del runtime.refuse["list_pod_sandbox"]
    await node.until(lambda: len(runtime.sandboxes) == 1)
    assert next(iter(runtime.sandboxes.values())).metadata.name == "kept"
    assert not task.done()
    task.cancel()
