"""An API server and a connection to it."""

from collections.abc import AsyncIterator

import pytest_asyncio
from probelet.kube.connection import Connection

from tests.support.kube_api import KubeApi
from tests.unit.kube.virtual_clock import VirtualClock


@pytest_asyncio.fixture
async def api() -> AsyncIterator[KubeApi]:
    async with KubeApi() as api:
        yield api


@pytest_asyncio.fixture
async def connection(api: KubeApi) -> AsyncIterator[Connection]:
    async with api.connection() as connection:
        yield connection


@pytest_asyncio.fixture
async def clock() -> VirtualClock:
    return VirtualClock()
