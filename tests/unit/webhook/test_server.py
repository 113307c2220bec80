"""The server over real TLS on loopback: what API servers send, and what others might."""

import asyncio
import base64
import io
import ssl
from collections.abc import AsyncIterator

import aiohttp
import msgspec
import pytest
import pytest_asyncio
from probelet.kube.clock import LoopClock
from probelet.server.address import Address, listening_socket
from probelet.server.connection import Connection
from probelet.server.limit import ANSWER_SECONDS, PIECE_BYTES
from probelet.webhook.certificate.served import ServedCertificate
from probelet.webhook.handler import Handler, mutate_probes
from probelet.webhook.limit import BODY_BYTES_MAX, LARGE_BODIES_BYTES_MAX, LARGE_BODY_BYTES
from probelet.webhook.metrics import WebhookMetrics
from probelet.webhook.pages import HealthPages
from probelet.webhook.review import AdmissionRequest, AdmissionResponse
from probelet.webhook.server import AdmissionServer

from tests.unit.webhook.reviews import review

HEADERS = {"Content-Type": "application/json"}
CLOSE = {"Connection": "close"}
PAYLOAD = {"data": review(), "headers": HEADERS}
LONG_ANSWERS = [round(64 * 1024 * 16 ** (step / 19)) for step in range(20)]
"""20 sizes from 64 KiB to 1 MiB."""


class Rig:
    """A server with its handlers, and a client that verifies nothing."""

    def __init__(self) -> None:
        self.metrics = WebhookMetrics()
        self.served = ServedCertificate(self.metrics, LoopClock().wall_ns)
        self.seen: list[AdmissionRequest] = []
        self.listening = listening_socket(Address("127.0.0.1", 0))
        self.port = self.listening.address.port  # type: ignore[union-attr]
        self.server = AdmissionServer(self._handlers(), self.listening, self.served.context, self.metrics)
        self.client = aiohttp.ClientSession(f"https://127.0.0.1:{self.port}", connector=aiohttp.TCPConnector(ssl=False))

    def _handlers(self) -> dict[str, Handler]:
        def broken(request: AdmissionRequest) -> AdmissionResponse:
            raise RuntimeError("a mistake of ours")

        def noted(request: AdmissionRequest) -> AdmissionResponse:
            self.seen.append(request)
            return AdmissionResponse("nothing")

        def large(request: AdmissionRequest) -> AdmissionResponse:
            return AdmissionResponse("large", [{"op": "add", "path": "/a", "value": "x" * int(request.object)}])

        return {
            "/mutate-probes": mutate_probes("probelet-system"),
            "/broken": broken,
            "/noted": noted,
            "/large": large,
        }

    async def page(self) -> str:
        return (self.metrics.render() + self.server.refusals.render()).decode()


@pytest_asyncio.fixture
async def rig() -> AsyncIterator[Rig]:
    rig = Rig()
    await rig.server.start()
    async with rig.client:
        yield rig
    await rig.server.close()


async def test_a_review_is_answered_and_counted(rig: Rig) -> None:
    async with rig.client.post("/mutate-probes?timeout=5s", **PAYLOAD) as answer:
        assert (answer.status, answer.content_type) == (200, "application/json")
        response = msgspec.json.decode(await answer.read())["response"]
    assert (response["uid"], response["allowed"]) == ("705ab4f5-6393-11e8-b7cc-42010a800002", True)
    assert 'requests_total{handler="mutate-probes",result="taken-over"} 1' in await rig.page()


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        (b"{", HEADERS, 400, "not an AdmissionReview"),
        (b"{}", HEADERS, 400, "this server answers an AdmissionReview of admission.k8s.io/v1"),
        (review(), {"Content-Type": "text/plain"}, 415, "Content-Type must be application/json"),
        (io.BytesIO(b" " * (BODY_BYTES_MAX + 1)), HEADERS, 413, f"at most {BODY_BYTES_MAX} bytes"),
    ],
)
async def test_what_is_no_review_gets_a_status_of_http(
    rig: Rig, body: bytes | io.BytesIO, headers: dict[str, str], status: int, words: str
) -> None:
    async with rig.client.post("/noted", data=body, headers=headers) as answer:
        assert answer.status == status
        assert words in await answer.text()
    assert rig.seen == []
    assert 'result="malformed"} 1' in await rig.page()


async def test_another_path_or_method_is_not_found(rig: Rig) -> None:
    async with rig.client.post("/other", **PAYLOAD) as answer:
        assert answer.status == 404
    async with rig.client.get("/noted") as answer:
        assert answer.status == 405


async def test_a_large_pod_in_pieces_is_read(rig: Rig) -> None:
    large = review(object={"metadata": {"annotations": {"a": "x" * (2 * 1024 * 1024)}}})

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(large), 100_000):
            yield large[at : at + 100_000]

    async with rig.client.post("/noted", data=pieces(), headers=HEADERS) as answer:
        assert answer.status == 200
    assert len(rig.seen[0].object["metadata"]["annotations"]["a"]) == 2 * 1024 * 1024


async def test_long_answers_arrive_whole_over_tls(rig: Rig) -> None:
    # Each size leaves another remainder to the last record, and the connection goes on with the next one.
    for size in LONG_ANSWERS:
        async with (
            asyncio.timeout(ANSWER_SECONDS / 2),
            rig.client.post("/large", data=review(object=size), headers=HEADERS) as answer,
        ):
            patch = msgspec.json.decode(await answer.read())["response"]["patch"]
        assert msgspec.json.decode(base64.b64decode(patch))[0]["value"] == "x" * size


async def test_long_pages_arrive_whole_over_tls(rig: Rig) -> None:
    page = b""
    listening = listening_socket(Address("127.0.0.1", 0))
    pages = HealthPages(listening, rig.served.context, lambda: None, lambda: page)
    await pages.start()
    try:
        for size in LONG_ANSWERS:
            page = b"x" * size
            async with (
                asyncio.timeout(ANSWER_SECONDS / 2),
                rig.client.get(f"https://{listening.address}/metrics") as answer,
            ):
                assert (await answer.read()).startswith(page)
    finally:
        await pages.close()


async def test_a_reader_over_tls_that_does_not_read_holds_no_copy_of_a_long_page(rig: Rig) -> None:
    listening = listening_socket(Address("127.0.0.1", 0))
    made: list[asyncio.Transport] = []
    connection_made = Connection.connection_made

    def noted(self: Connection, transport: asyncio.Transport) -> None:
        made.append(transport)
        connection_made(self, transport)

    pages = HealthPages(listening, rig.served.context, lambda: None, lambda: b"x" * 20_000_000)
    await pages.start()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Connection, "connection_made", noted)
        _, writer = await asyncio.open_connection(
            "127.0.0.1", listening.sock.getsockname()[1], ssl=_unverified(), limit=1
        )
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        async with rig.client.get(f"https://{listening.address}/healthz", headers=CLOSE) as answer:
            assert answer.status == 200
        # What the server writes without waiting for its reader, it has written after so many turns.
        for _ in range(200):
            await asyncio.sleep(0)
    # TLS has a buffer of its own, behind it the socket's transport another one.
    behind: asyncio.Transport = made[0]._ssl_protocol._transport  # type: ignore[attr-defined]
    assert made[0].get_write_buffer_size() + behind.get_write_buffer_size() <= 6 * PIECE_BYTES
    writer.transport.abort()
    await pages.close()


@pytest.mark.parametrize("size", [1_000, 2 * LARGE_BODY_BYTES])
async def test_large_bodies_that_never_end_keep_nobody_out(rig: Rig, size: int) -> None:
    writers = []
    for _ in range(40):
        _, writer = await asyncio.open_connection("127.0.0.1", rig.port, ssl=_unverified())
        writer.write(_head(BODY_BYTES_MAX) + b"x" * 1000)
        await writer.drain()
        writers.append(writer)
    # The slow ones have half a minute.
    async with asyncio.timeout(ANSWER_SECONDS / 3):
        for _ in range(3):
            async with rig.client.post("/noted", data=review(object={"a": "x" * size}), headers=HEADERS) as answer:
                assert answer.status == 200
    for writer in writers:
        writer.transport.abort()


async def test_large_bodies_beyond_the_memory_for_them_give_way(rig: Rig) -> None:
    readers = []
    for _ in range(LARGE_BODIES_BYTES_MAX // BODY_BYTES_MAX + 1):
        reader, writer = await asyncio.open_connection("127.0.0.1", rig.port, ssl=_unverified())
        writer.write(_head(BODY_BYTES_MAX) + b"x" * (BODY_BYTES_MAX - 1))
        await writer.drain()
        readers.append((reader, writer))
    async with asyncio.timeout(ANSWER_SECONDS / 3):
        assert (await readers[0][0].readline()).startswith(b"HTTP/1.1 503")
        async with rig.client.post("/noted", data=review(object="x" * LARGE_BODY_BYTES), headers=HEADERS) as answer:
            assert answer.status == 200
    assert 'requests_total{handler="noted",result="displaced"} 1' in await rig.page()
    for _, writer in readers:
        writer.transport.abort()


@pytest.mark.parametrize("size", [LARGE_BODY_BYTES // 2, BODY_BYTES_MAX])
async def test_a_client_that_closes_in_the_middle_of_a_body_costs_no_traceback(
    rig: Rig, size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(5):
        _, writer = await asyncio.open_connection("127.0.0.1", rig.port, ssl=_unverified())
        writer.write(_head(size) + b"x" * 1000)
        await writer.drain()
        writer.transport.abort()
    async with asyncio.timeout(ANSWER_SECONDS / 3):
        while 'requests_total{handler="noted",result="malformed"} 5' not in await rig.page():  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert "Traceback" not in capsys.readouterr().out


async def test_a_mistake_of_ours_is_a_500_so_that_the_failure_policy_decides(rig: Rig) -> None:
    async with rig.client.post("/broken", **PAYLOAD) as answer:
        assert answer.status == 500
        assert "a mistake of ours" not in await answer.text()
    assert 'requests_total{handler="broken",result="error"} 1' in await rig.page()


async def test_while_it_drains_each_answer_ends_its_connection(rig: Rig) -> None:
    async with rig.client.post("/noted", **PAYLOAD) as answer:
        assert answer.headers.get("Connection") is None
    rig.server.drain()
    async with rig.client.post("/noted", **PAYLOAD) as answer:
        assert (answer.status, answer.headers["Connection"]) == (200, "close")


async def test_a_client_without_tls_is_refused_and_counted(rig: Rig) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", rig.port)
    writer.write(b"POST /noted HTTP/1.1\r\n\r\n")
    assert await reader.read() == b""
    writer.close()
    async with rig.client.post("/noted", **PAYLOAD) as answer:
        assert answer.status == 200
    assert 'probelet_http_refused_total{reason="handshake"} 1' in await rig.page()


async def test_old_tls_is_refused(rig: Rig) -> None:
    context = _unverified()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.deprecated_call():
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection("127.0.0.1", rig.port, ssl=context)


async def test_the_end_waits_for_an_answer_in_flight(rig: Rig) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", rig.port, ssl=_unverified())
    body = review()
    writer.write(_head(len(body)) + body[:10])
    await writer.drain()
    # The second request is answered behind the head of the first one.
    async with rig.client.post("/noted", **PAYLOAD) as answer:
        assert answer.status == 200
    closing = asyncio.create_task(rig.server.close())
    await asyncio.sleep(0)
    writer.write(body[10:])
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()
    await closing
    assert len(rig.seen) == 2


async def test_pages_say_whether_an_api_server_can_call(rig: Rig) -> None:
    listening = listening_socket(Address("127.0.0.1", 0))
    pages = HealthPages(listening, rig.served.context, rig.served.why_not_ready, rig.metrics.render)
    await pages.start()
    base = f"https://{listening.address}"
    try:
        async with rig.client.get(f"{base}/readyz", headers=CLOSE) as answer:
            assert (answer.status, await answer.text()) == (
                503,
                "no certificate yet: it is being made or read\n",
            )
        async with rig.client.get(f"{base}/healthz", headers=CLOSE) as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")
        async with rig.client.get(f"{base}/metrics", headers=CLOSE) as answer:
            page = await answer.text()
        assert "probelet_webhook_certificate_not_after_seconds" not in page
        assert 'probelet_webhook_certificate_loads_total{result="loaded"} 0' in page
        assert "process_resident_memory_bytes" in page
    finally:
        await pages.close()


def _head(length: int) -> bytes:
    lines = ["POST /noted HTTP/1.1", "Host: a", "Content-Type: application/json", f"Content-Length: {length}", "", ""]
    return "\r\n".join(lines).encode()


def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
