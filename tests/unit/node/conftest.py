"""Gives each test a node on a scripted runtime."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from probelet.policy.node.restart_gate import GateOptions, RestartGate

from tests.unit.node.scripted_node import ScriptedNode, served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime


@pytest.fixture
def runtime() -> ScriptedRuntime:
    return ScriptedRuntime()


@pytest.fixture
def gate() -> RestartGate:
    """The kubelet's back-off curve, a hundred times as fast."""
    return RestartGate(GateOptions(initial_ns=100_000_000, max_ns=3_000_000_000))


@pytest.fixture
async def node(runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    async with served_node(runtime, gate, tmp_path, root=tmp_path / "root") as node:
        yield node
