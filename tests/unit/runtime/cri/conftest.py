"""Serves a test's own runtime over real gRPC."""

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from probelet.runtime.cri import RuntimeClient, grpc_channel

Connect = Callable[[object], Awaitable[RuntimeClient]]


@pytest.fixture
def socket_path() -> Iterator[Path]:
    # Short: a socket's path has 107 bytes, and tmp_path holds the test's name.
    with tempfile.TemporaryDirectory(prefix="cri") as directory:
        yield Path(directory) / "cri.sock"


@pytest.fixture
async def connect(socket_path: Path) -> AsyncIterator[Connect]:
    """``await connect(runtime)`` serves ``runtime`` and returns a client for it."""
    servers: list[grpc_channel.Server] = []
    clients: list[RuntimeClient] = []

    async def serve(runtime: object) -> RuntimeClient:
        servers.append(grpc_channel.Server(runtime))
        await servers[-1].start(str(socket_path))
        clients.append(RuntimeClient(f"unix://{socket_path}"))
        return clients[-1]

    yield serve
    for client in clients:
        await client.aclose()
    for server in servers:
        await server.stop(0)
