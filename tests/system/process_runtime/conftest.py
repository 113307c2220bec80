"""An embedded runtime for each test, and helpers that run pods on it."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from pathlib import Path

import pytest
from probelet.runtime.cri import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.launch import EmbeddedRuntime, launch

from tests.support.patience import PATIENCE_SECONDS, pauses

PROGRAMS = Path(__file__).parent / "programs"


def python(program: str, *arguments: object) -> list[str]:
    """The command line of one of the programs beside the tests."""
    return [sys.executable, str(PROGRAMS / program), *map(str, arguments)]


def left_of(pids: Iterable[int], seconds: float = PATIENCE_SECONDS) -> set[int]:
    """Waits up to ``seconds`` until all processes have ended; returns the living ones."""
    left = set(pids)
    for pause in pauses(seconds):
        left &= {row.pid for row in process_tree.processes().values() if row.alive}
        if not left:
            break
        time.sleep(pause)
    return left


async def until(seen: Callable[[], Awaitable[bool]]) -> None:
    """Poll until ``seen`` is true: the other process sends no notice."""
    for pause in pauses():
        if await seen():
            return
        await asyncio.sleep(pause)
    raise TimeoutError


def text_of(path: Path) -> str | None:
    """The text of a file; None if the file does not exist."""
    return path.read_text() if path.exists() else None


async def content(path: Path) -> str:
    """Waits for a file and returns its text."""

    async def there() -> bool:
        return text_of(path) is not None

    await until(there)
    return text_of(path) or ""


def entries(path: Path, pattern: str = "*") -> list[Path]:
    """The files in a directory, at any depth."""
    return [entry for entry in path.rglob(pattern) if entry.is_file()]


class Pod:
    """One sandbox."""

    def __init__(self, client: RuntimeClient, config: api_pb2.PodSandboxConfig, sandbox_id: str, ip: str) -> None:
        self.client, self.config, self.id, self.ip = client, config, sandbox_id, ip

    async def create(self, *command: str, name: str = "app", **fields: object) -> str:
        config = api_pb2.ContainerConfig(
            metadata=api_pb2.ContainerMetadata(name=name), command=command, log_path=f"{name}/0.log", **fields
        )
        return await self.client.create_container(self.id, config, self.config)

    async def start(self, *command: str, name: str = "app", **fields: object) -> str:
        container_id = await self.create(*command, name=name, **fields)
        await self.client.start_container(container_id)
        return container_id

    def log(self, name: str = "app") -> list[str]:
        """The records of a container's log without their times."""
        text = (Path(self.config.log_directory) / name / "0.log").read_text()
        return [line.split(" ", 1)[1] for line in text.splitlines()]

    async def logged(self, record: str, name: str = "app") -> None:
        """Wait until a container has logged the record."""

        async def there() -> bool:
            return record in self.log(name)

        await until(there)


class RunningRuntime:
    """A runtime, a client of it, and the pods on it."""

    def __init__(self, runtime: EmbeddedRuntime, client: RuntimeClient) -> None:
        self.runtime, self.client = runtime, client

    @property
    def runtime_pid(self) -> int:
        """The process that serves the RPCs: the guard's first child."""
        guard = self.runtime.process.pid
        return min(row.pid for row in process_tree.processes().values() if row.parent == guard)

    async def pod(self, name: str = "pod", **fields: object) -> Pod:
        config = api_pb2.PodSandboxConfig(
            metadata=api_pb2.PodSandboxMetadata(name=name, namespace="default", uid=f"uid-{name}"),
            log_directory=str(self.runtime.log_directory / name),
            **fields,
        )
        sandbox_id = await self.client.run_pod_sandbox(config)
        status = (await self.client.pod_sandbox_status(sandbox_id)).status
        return Pod(self.client, config, sandbox_id, status.network.ip)

    async def status(self, container_id: str) -> api_pb2.ContainerStatus:
        return (await self.client.container_status(container_id)).status

    async def exited(self, container_id: str) -> api_pb2.ContainerStatus:
        """The status of a container once it has exited."""

        async def there() -> bool:
            return (await self.status(container_id)).state == api_pb2.CONTAINER_EXITED

        await until(there)
        return await self.status(container_id)


@pytest.fixture
def state_dir() -> Iterator[Path]:
    # Short: a socket's path has 107 bytes, and tmp_path holds the test's name.
    with tempfile.TemporaryDirectory(prefix="prt") as directory:
        yield Path(directory)


@pytest.fixture
async def running(state_dir: Path) -> AsyncIterator[RunningRuntime]:
    runtime = await launch(state_dir)
    async with RuntimeClient(runtime.endpoint) as client:
        try:
            yield RunningRuntime(runtime, client)
        finally:
            await runtime.aclose()
    assert os.listdir(state_dir) == []  # noqa: PTH208
