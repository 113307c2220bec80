"""Who gets a connection when there are too many, and how long one may take: on a clock of the test's own."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from probelet.server import acceptor as module
from probelet.server.acceptor import Acceptor, Room, peer_of
from probelet.server.connection import Connection
from probelet.server.limit import ANSWER_SECONDS, IDLE_SECONDS, REQUEST_BYTES_MAX, REQUEST_SECONDS
from probelet.server.refusals import TEXTS, Reason, Refusals

ROOM = 6
PER_PEER = 3


class FakeSocket:
    """Accepts what the test puts into ``waiting``: the address of a peer, or an error."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.peers: list[socket.socket] = []

    def accept(self) -> tuple[socket.socket, Any]:
        if not self.waiting:
            raise BlockingIOError
        found = self.waiting.pop(0)
        if isinstance(found, OSError):
            raise found
        ours, theirs = socket.socketpair()
        self.peers.append(theirs)
        return ours, found

    def fileno(self) -> int:
        return -1


class Gate:
    """An acceptor with a socket and a clock of the test's own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sock = FakeSocket()
        self.refusals = Refusals("pages")
        self.acceptor = Acceptor(
            self.sock,  # type: ignore[arg-type]
            Room(ROOM, PER_PEER),
            asyncio.Protocol,
            self.refusals,
            lambda: self.now,
        )

    async def arrive(self, *hosts: str) -> list[Connection]:
        """Connections from these addresses, a second apart; returns those of all that are left, oldest first."""
        for host in hosts:
            self.sock.waiting.append((host, 1))
            self.acceptor.accept()
            self.now += 1
        for _ in range(4):
            await asyncio.sleep(0)
        return sorted(self.acceptor.connections, key=lambda found: found.since)

    def count(self, reason: Reason) -> int:
        [line] = [line for line in self.refusals.render().decode().splitlines() if f'reason="{reason}"' in line]
        return int(line.split()[-1])


@pytest_asyncio.fixture
async def gate() -> AsyncIterator[Gate]:
    gate = Gate()
    yield gate
    gate.acceptor.abort()
    for peer in gate.sock.peers:
        peer.close()
    # The transports close their sockets.
    for _ in range(4):
        await asyncio.sleep(0)


async def test_a_full_server_closes_the_connection_that_has_waited_longest(gate: Gate) -> None:
    first, *others = await gate.arrive(*(f"10.0.0.{host}" for host in range(ROOM)))
    left = await gate.arrive("10.0.0.99")
    assert left[:-1] == others
    assert (left[-1].peer, first in left, gate.count("displaced")) == ("10.0.0.99", False, 1)


async def test_one_peer_displaces_only_its_own_connections(gate: Gate) -> None:
    other, *_ = await gate.arrive("10.0.0.1", "10.0.0.2")
    left = await gate.arrive(*["10.0.0.7"] * 50)
    assert [found.peer for found in left] == ["10.0.0.1", "10.0.0.2", *["10.0.0.7"] * PER_PEER]
    assert other in left


async def test_a_connection_whose_request_is_answered_is_not_displaced(gate: Gate) -> None:
    connections = await gate.arrive(*["10.0.0.7"] * PER_PEER)
    for connection in connections:
        connection.answers()
    assert set(await gate.arrive("10.0.0.7")) == set(connections)
    assert (gate.count("connections"), gate.count("displaced")) == (1, 0)


async def test_an_idle_connection_gives_way_without_being_a_refusal(gate: Gate) -> None:
    [first, *_] = await gate.arrive(*["10.0.0.7"] * PER_PEER)
    first.answers()
    first.answered()
    gate.now += 1
    await gate.arrive(*["10.0.0.7"] * PER_PEER)
    assert gate.count("displaced") == PER_PEER - 1


async def test_each_part_of_a_connection_has_its_time(gate: Gate) -> None:
    [connection] = await gate.arrive("10.0.0.1")

    def is_open_after(seconds: float) -> bool:
        gate.now = connection.since + seconds
        gate.acceptor.expire(gate.now)
        return connection in gate.acceptor.connections

    assert is_open_after(REQUEST_SECONDS - 1)
    connection.data_received(b"GET / HT")
    connection.answers()
    assert is_open_after(ANSWER_SECONDS - 1)
    connection.answered()
    assert is_open_after(IDLE_SECONDS - 1)
    connection.data_received(b"G")
    # Each further byte of the request gives no more time.
    for second in range(int(REQUEST_SECONDS)):
        assert is_open_after(second)
        connection.data_received(b"E")
    assert not is_open_after(REQUEST_SECONDS)
    assert (gate.count("request_time"), gate.count("answer_time")) == (1, 0)


async def test_a_reader_that_does_not_take_its_answer_is_closed(gate: Gate) -> None:
    [connection] = await gate.arrive("10.0.0.1")
    connection.answers()
    gate.acceptor.expire(gate.now + ANSWER_SECONDS)
    assert (gate.acceptor.connections, gate.count("answer_time")) == (set(), 1)


async def test_an_answer_that_ends_with_its_reader_has_no_time(gate: Gate) -> None:
    [connection] = await gate.arrive("10.0.0.1")
    connection.answers(is_bounded=False)
    gate.acceptor.expire(gate.now + 1_000_000)
    assert gate.acceptor.connections == {connection}


async def test_requests_that_pile_up_are_too_large(gate: Gate) -> None:
    [connection] = await gate.arrive("10.0.0.1")
    for _ in range(3):
        connection.data_received(b"a" * (REQUEST_BYTES_MAX // 3))
    assert gate.count("size") == 0
    connection.data_received(b"aaa")
    await asyncio.sleep(0)
    assert (gate.count("size"), gate.acceptor.connections) == (1, set())


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
async def test_without_a_descriptor_nothing_is_accepted_for_a_while(
    gate: Gate, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    removed: list[object] = []
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "call_later", lambda delay, *_: asked.append(delay))
    monkeypatch.setattr(loop, "remove_reader", removed.append)
    gate.sock.waiting += [OSError(number, "no more"), ("10.0.0.1", 1)]
    gate.acceptor.accept()
    assert (asked, removed, gate.count("accept")) == ([module.ACCEPT_PAUSE_SECONDS], [gate.sock], 1)
    assert gate.acceptor.connections == set()


async def test_a_peer_that_left_early_does_not_keep_others_out(gate: Gate) -> None:
    gate.sock.waiting.append(ConnectionAbortedError())
    assert [found.peer for found in await gate.arrive("10.0.0.1")] == ["10.0.0.1"]


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        (("127.0.0.1", 1), "loopback"),
        (("127.200.3.4", 1), "loopback"),
        (("::1", 1, 0, 0), "loopback"),
        (("::ffff:127.0.0.9", 1, 0, 0), "loopback"),
        (("::ffff:10.0.0.9", 1, 0, 0), "10.0.0.9"),
        (("10.0.0.9", 1), "10.0.0.9"),
        (("fe80::1%eth0", 1, 0, 2), "fe80::/64"),
        (("2001:db8::1:2", 1, 0, 0), "2001:db8::/64"),
        ("", "local"),
        (b"", "local"),
    ],
)
def test_who_is_one_peer(address: Any, peer: str) -> None:
    assert peer_of(address) == peer


def test_every_reason_has_a_text_and_a_count() -> None:
    page = Refusals("pages").render().decode()
    assert all(f'probelet_http_refused_total{{reason="{reason}"}} 0\n' in page for reason in TEXTS)
