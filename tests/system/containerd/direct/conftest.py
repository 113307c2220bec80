"""Pods of many security contexts, and both ways into their containers."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.system.containerd.conftest import started_containerd
from tests.system.containerd.direct.both import Both, both_ways
from tests.system.containerd.direct.pods import PODS, SHARING, TOGETHER
from tests.system.containerd.direct.profiles import profiles
from tests.system.containerd.machine import Containerd, remove_pods
from tests.system.containerd.node import ContainerdNode


@pytest.fixture(scope="session")
def containerd() -> Iterator[Containerd]:
    """A containerd of its own: these pods stay for the session, and other tests look whether theirs is empty."""
    yield from started_containerd()


@pytest.fixture(scope="session")
def pod_ids(containerd: Containerd, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The container IDs of all pods, by name. Whatever a test does to a container, the others must not notice."""
    node = ContainerdNode(containerd, tmp_path_factory.mktemp("direct"))
    places = {row.name: (TOGETHER if row in SHARING else row.name, row.name) for row in PODS}
    containers = {row.name: {"name": row.name, "command": ["sleep", "100000"], **row.container} for row in PODS}
    node.run(TOGETHER, *(containers[row.name] for row in SHARING))
    for row in PODS:
        if row not in SHARING:
            node.run(row.name, containers[row.name], **row.pod)

    def are_running() -> bool:
        return all(node.container(*place)["state"] == "running" for place in places.values())

    with profiles():
        node.start()
        node.until(are_running, "running containers")
        yield {name: node.container(*place)["container_id"].rpartition("/")[2] for name, place in places.items()}
        node.close()
        asyncio.run(remove_pods(containerd.endpoint, node.name))


@pytest.fixture
async def both(containerd: Containerd, pod_ids: dict[str, str]) -> AsyncIterator[Both]:
    async with both_ways(containerd, pod_ids) as both:
        yield both
