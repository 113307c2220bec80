"""Gives each test a prober service on its own socket, and a client."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from probelet._rust import Engine
from probelet.host.engine_host import EngineHost
from probelet.service.server import prober_service

from tests.unit.service.caller import Caller


@pytest.fixture
def engine() -> Iterator[Engine]:
    with closing(Engine(start_jitter=False, glue=False)) as engine:
        yield engine


@pytest.fixture
async def socket(tmp_path: Path, engine: Engine) -> AsyncIterator[Path]:
    path = tmp_path / "prober.sock"
    async with prober_service(path, EngineHost(engine, "node-a")):
        yield path


@pytest.fixture
async def caller(socket: Path) -> AsyncIterator[Caller]:
    caller = Caller(socket)
    yield caller
    await caller.channel.close()
