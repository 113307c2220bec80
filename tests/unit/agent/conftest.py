"""Gives each test a node with a kubelet and an API server, and an agent on it if the test asks for one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from probelet.agent.state.disk_thread import Change, DiskThread

from tests.unit.agent.scripted_agent import AgentNode, agent_node


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes take no time on the agent's clocks, which run a thousand times as fast as a disk."""

    async def at_once(_thread: DiskThread, _name: str, change: Change) -> None:
        await asyncio.sleep(0)
        change()
        await asyncio.sleep(0)

    monkeypatch.setattr(DiskThread, "make", at_once)


@pytest.fixture
async def bare_node(tmp_path: Path) -> AsyncIterator[AgentNode]:
    """A node without an agent; a test begins some by ``an_agent``."""
    async with agent_node(tmp_path) as bare_node:
        yield bare_node


@pytest.fixture
async def node(bare_node: AgentNode) -> AsyncIterator[AgentNode]:
    """A node with an agent."""
    async with bare_node.an_agent():
        yield bare_node
