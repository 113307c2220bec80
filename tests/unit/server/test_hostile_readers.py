"""Readers that mean harm, on real sockets: idle, slow, deaf, malformed and misled ones, beside one that only asks."""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
from probelet.server.address import Address, Listening, UnixAddress, listening_socket
from probelet.server.limit import REQUEST_BYTES_MAX
from probelet.server.pages.host_check import HostCheck
from probelet.server.pages.server import HttpServer
from probelet.server.refusals import Refusals

from tests.unit.server.fake_view import FakeView, container, document, pod

CONNECTIONS = 8
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class Pages:
    """The pages, and readers of them."""

    def __init__(self, view: FakeView, listening: Listening) -> None:
        self.view = view
        self.listening = listening

    async def ask(self, request: bytes = GET) -> bytes:
        """All that the server answers to these bytes."""
        reader, writer = await asyncio.open_connection(*self.listening.sock.getsockname()[:2])
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer

    async def refused(self, reason: str) -> int:
        metrics = (await self.ask(GET.replace(b"/healthz", b"/metrics"))).decode()
        [line] = [line for line in metrics.splitlines() if line.startswith("probelet_http") and f'"{reason}"' in line]
        return int(line.split()[-1])

    def connected(self, stack: ExitStack) -> socket.socket:
        return stack.enter_context(socket.create_connection(self.listening.sock.getsockname()[:2]))


@pytest_asyncio.fixture
async def pages() -> AsyncIterator[Pages]:
    view = FakeView()
    listening = listening_socket(Address("127.0.0.1", 0))
    server = HttpServer(view, listening, CONNECTIONS)
    await server.start()
    yield Pages(view, listening)
    await server.close()


@pytest.mark.parametrize("sent", [b"", b"GET /statusz HTTP/1.1\r\nHost: x\r\nX: "])
async def test_many_idle_connections_keep_nobody_out(pages: Pages, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(5):
            for _ in range(CONNECTIONS * 2):
                pages.connected(stack).sendall(sent)
            assert (await pages.ask()).endswith(b"ok\n")
        assert await pages.refused("displaced") >= CONNECTIONS * 5


async def test_a_reader_that_does_not_read_holds_no_copy_of_a_long_answer(pages: Pages) -> None:
    pages.view.document = document(pod("huge", container(message="m" * 20_000_000)))
    with ExitStack() as stack:
        deaf = pages.connected(stack)
        deaf.sendall(b"GET /statusz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        deaf.setblocking(False)
        await asyncio.get_running_loop().sock_recv(deaf, 1)
        # What the server writes without waiting for its reader, it has written after so many turns.
        for _ in range(50):
            await asyncio.sleep(0)
        [transport] = _transports(deaf.getsockname())
        assert transport.get_write_buffer_size() <= 2 * 64 * 1024
        assert (await pages.ask()).endswith(b"ok\n")


def _transports(peer: tuple[str, int]) -> list[asyncio.WriteTransport]:
    return [
        found
        for found in gc.get_objects()
        # What is left of a closed transport with TLS, another test's, raises for every question but the first.
        if isinstance(found, asyncio.WriteTransport)
        and not found.is_closing()
        and found.get_extra_info("peername") == peer
    ]


async def test_a_long_answer_arrives_whole(pages: Pages) -> None:
    pages.view.document = document(pod("huge", container(message="m" * 3_000_000)))
    head, _, body = (await pages.ask(GET.replace(b"/healthz", b"/statusz"))).partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}" in head.decode().lower()
    assert body.count(b"m" * 3_000_000) == 1
    head, _, body = (await pages.ask(GET.replace(b"GET /healthz", b"HEAD /statusz"))).partition(b"\r\n\r\n")
    assert (b" 200 " in head, body) == (True, b"")


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /" + b"a" * REQUEST_BYTES_MAX + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * REQUEST_BYTES_MAX,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n" + b"a" * REQUEST_BYTES_MAX,
        GET.replace(b"Connection: close\r\n", b"") * 1_000,
    ],
)
async def test_a_request_that_goes_on_and_on_is_closed(pages: Pages, request_: bytes) -> None:
    with suppress(ConnectionError):
        await pages.ask(request_)
    assert await pages.refused("size") + await pages.refused("malformed") >= 1


@pytest.mark.parametrize(
    "request_", [b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"a: b\r\n\r\n"]
)
async def test_malformed_requests_are_counted_and_are_one_line(pages: Pages, request_: bytes) -> None:
    with structlog.testing.capture_logs() as lines:
        for _ in range(20):
            await pages.ask(request_)
    assert await pages.refused("malformed") == 20
    assert [line["event"] for line in lines] == ["refused a malformed request"]


async def test_a_page_of_another_name_cannot_read_the_pages(pages: Pages) -> None:
    request = GET.replace(b"localhost", b"evil.example:10290")
    with structlog.testing.capture_logs() as lines:
        answers = [await pages.ask(request) for _ in range(20)]
    assert all(answer.startswith(b"HTTP/1.1 421 ") and b"evil" not in answer for answer in answers)
    assert (len(lines), await pages.refused("host")) == (1, 20)


@pytest.mark.parametrize(
    ("host", "is_accepted"),
    [
        ("localhost", True),
        ("LocalHost.:80", True),
        ("node-a:10290", True),
        ("127.0.0.1:10290", True),
        ("10.1.2.3", True),
        ("[::1]:10290", True),
        ("[fe80::1%25eth0]", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
        ("::1", False),
        ("localhost@evil.example", False),
    ],
)
def test_which_host_is_a_name_of_the_address(host: str, is_accepted: bool) -> None:
    assert HostCheck("Node-A", Refusals("pages")).accepts(host) is is_accepted


async def test_beyond_loopback_any_host_is_answered() -> None:
    listening = listening_socket(Address("0.0.0.0", 0), allow_remote=True)
    server = HttpServer(FakeView(), listening)
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", listening.sock.getsockname()[1])
    writer.write(GET.replace(b"localhost", b"node-a.example"))
    assert (await reader.read()).endswith(b"ok\n")
    writer.close()
    await server.close()


async def test_pages_on_a_unix_socket_that_goes_with_its_server(tmp_path: Path) -> None:
    path = tmp_path / "pages.sock"
    listening = listening_socket(UnixAddress(path))
    assert path.stat().st_mode & 0o777 == 0o600
    server = HttpServer(FakeView(), listening)
    await server.start()
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(GET.replace(b"localhost", b"anything"))
    assert (await reader.read()).endswith(b"ok\n")
    writer.close()
    await server.close()
    assert not path.exists()


async def test_a_handler_that_fails_is_one_line(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> bytes:
        raise RuntimeError("our own")

    monkeypatch.setattr(pages.view, "metrics", fail)
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            assert b" 500 " in await pages.ask(GET.replace(b"/healthz", b"/metrics"))
    assert [(line["event"], line["error"]) for line in lines] == [("a request failed", "RuntimeError")]
