"""A running server over a fake view: real sockets, the shipped client."""

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio
from probelet.server.control.server import ControlServer
from probelet.server.control.state_dir import locked_state_dir

from tests.unit.server.fake_view import FakeView


@dataclass
class Served:
    view: FakeView
    state_dir: Path
    control: ControlServer


@pytest_asyncio.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    view = FakeView()
    with locked_state_dir(tmp_path / "state") as state_dir:
        control = ControlServer(view, view, state_dir)
        await control.start()
        yield Served(view, state_dir, control)
        await control.close()


def unix_listener(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(str(path))
    sock.listen()
    return sock
