"""One API server for the tests of this folder; each test has a namespace of its own."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from probelet.kube.connection import Connection
from probelet.kube.kinds import NAMESPACES

from tests.system.kube.api_server import ApiServer


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    server = ApiServer(tmp_path_factory.mktemp("kube"))
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest_asyncio.fixture
async def connection(server: ApiServer) -> AsyncIterator[Connection]:
    async with Connection.from_kubeconfig(server.kubeconfig()) as connection:
        yield connection


@pytest_asyncio.fixture
async def namespace(connection: Connection, request: pytest.FixtureRequest) -> str:
    name = "t" + str(abs(hash(request.node.name)))[:12]
    await connection.create(NAMESPACES, {"metadata": {"name": name}})
    return name
