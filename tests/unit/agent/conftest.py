"""Gives each test a node with a kubelet and an API server, and an agent on it if the test asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.agent.scripted_agent import World, scripted_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A node without an agent; a test begins some by ``an_agent``."""
    async with scripted_world(tmp_path) as world:
        yield world


@pytest.fixture
async def node(world: World) -> AsyncIterator[World]:
    """A node with an agent."""
    async with world.an_agent():
        yield world
