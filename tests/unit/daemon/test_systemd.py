"""Messages to systemd, over a real datagram socket."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from probelet.daemon.systemd import READY, STOPPING, WATCHDOG, Supervisor


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.setblocking(False)
        yield sock


def heard(sock: socket.socket) -> list[str]:
    found = []
    while True:
        try:
            found.append(sock.recv(4096).decode())
        except BlockingIOError:
            return found


def test_each_call_is_one_datagram(systemd: socket.socket) -> None:
    supervisor = Supervisor({"NOTIFY_SOCKET": systemd.getsockname()})
    supervisor.notify(READY, "STATUS=12 pods")
    supervisor.notify(STOPPING)
    assert heard(systemd) == ["READY=1\nSTATUS=12 pods", "STOPPING=1"]


def test_an_abstract_address_begins_with_an_at() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("")
        sock.setblocking(False)
        name = sock.getsockname()[1:].decode()
        Supervisor({"NOTIFY_SOCKET": f"@{name}"}).notify(READY)
        assert heard(sock) == ["READY=1"]


def test_a_missing_or_dead_systemd_does_no_harm(tmp_path: Path) -> None:
    Supervisor({}).notify(READY)
    Supervisor({"NOTIFY_SOCKET": str(tmp_path / "nobody")}).notify(READY)


def test_a_systemd_that_does_not_read_blocks_nothing(systemd: socket.socket) -> None:
    supervisor = Supervisor({"NOTIFY_SOCKET": systemd.getsockname()})
    for _ in range(10_000):
        supervisor.notify(WATCHDOG)


async def test_signs_of_life_come_twice_as_often_as_required_on_the_given_clock(systemd: socket.socket) -> None:
    supervisor = Supervisor({"NOTIFY_SOCKET": systemd.getsockname(), "WATCHDOG_USEC": "3000000"})
    slept: list[int] = []
    stuck = asyncio.Event()

    async def sleep(ns: int) -> None:
        slept.append(ns)
        if len(slept) == 3:
            # The clock stops, like that of a stuck engine.
            stuck.set()
            await asyncio.Event().wait()

    assert supervisor.watches
    task = asyncio.ensure_future(supervisor.watch(sleep))
    await stuck.wait()
    task.cancel()
    assert slept == [1_500_000_000] * 3
    assert heard(systemd) == [WATCHDOG] * 3


@pytest.mark.parametrize(
    ("environ", "watches"),
    [
        ({}, False),
        ({"WATCHDOG_USEC": "0"}, False),
        ({"WATCHDOG_USEC": "soon"}, False),
        ({"WATCHDOG_USEC": "1000000"}, True),
        ({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": str(os.getpid())}, True),
        ({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"}, False),
    ],
)
def test_the_watchdog_applies_only_to_its_process(environ: dict[str, str], watches: bool) -> None:
    assert Supervisor(environ).watches is watches
