"""A prober service on a socket of its own, and a caller."""

from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from caller import Caller
from probelet._rust import Engine
from probelet.service.server import prober_service


@pytest.fixture
async def socket(tmp_path: Path) -> AsyncIterator[Path]:
    path = tmp_path / "prober.sock"
    with closing(Engine(start_jitter=False, glue=False)) as engine:
        async with prober_service(path, engine):
            yield path


@pytest.fixture
async def caller(socket: Path) -> AsyncIterator[Caller]:
    caller = Caller(socket)
    yield caller
    await caller.channel.close()
