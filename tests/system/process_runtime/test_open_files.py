"""More containers than the soft limit of open files allows: none of them sees another limit, and none dies of it."""

import asyncio
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from probelet.base import open_files
from probelet.runtime.cri.v1 import api_pb2

from tests.system.process_runtime.conftest import RunningRuntime

pytestmark = pytest.mark.e2e

SOFT = 200
CONTAINERS = 80
"""Each takes three descriptors of the runtime."""


@pytest.fixture
def state_dir(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The runtime's owner was started with a soft limit of ``SOFT``, and has raised it."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(open_files, "_inherited", None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, before[1]))
    try:
        assert open_files.raise_limit() == before[1]
        yield state_dir
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_containers_and_exec_runs_beyond_the_limit_live_and_have_the_limit(running: RunningRuntime) -> None:
    pod = await running.pod()
    print_limit = ("/bin/sh", "-c", "ulimit -Sn; exec sleep 600")
    # All at once: the threads of gRPC are busy while containers start.
    ids = await asyncio.gather(*(pod.start(*print_limit, name=f"app{number}") for number in range(CONTAINERS)))
    await asyncio.gather(*(pod.logged(f"stdout F {SOFT}", f"app{number}") for number in range(CONTAINERS)))
    states = [(await running.status(container_id)).state for container_id in ids]
    assert states == [api_pb2.CONTAINER_RUNNING] * CONTAINERS
    numbers = [int(entry.name) for entry in Path(f"/proc/{running.runtime_pid}/fd").iterdir()]
    assert len(numbers) > SOFT
    command = ["/bin/sh", "-c", "ulimit -Sn"]
    ended = await asyncio.gather(*(running.client.exec_sync(container_id, command, 30) for container_id in ids))
    assert {(run.exit_code, run.stdout) for run in ended} == {(0, f"{SOFT}\n".encode())}
