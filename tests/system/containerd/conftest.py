"""One containerd for each process of the run; each test starts its own ``probelet run``."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.required import missing
from tests.system.containerd.machine import Containerd, remove_pods, what_is_missing
from tests.system.containerd.node import ContainerdNode


@pytest.fixture(scope="session")
def containerd() -> Iterator[Containerd]:
    yield from started_containerd()


def started_containerd() -> Iterator[Containerd]:
    """A containerd for a fixture; the test is skipped where none can run."""
    if why := what_is_missing():
        missing("containerd", why)
    runtime = Containerd()
    try:
        runtime.start()
        yield runtime
    finally:
        runtime.stop()


@pytest.fixture
def node(containerd: Containerd, tmp_path: Path) -> Iterator[ContainerdNode]:
    node = ContainerdNode(containerd, tmp_path)
    yield node
    node.close()
    asyncio.run(remove_pods(containerd.endpoint, node.name))
