"""Servers for the handlers of KEP-5999 and KEP-4939 on every loopback address, which takes each pod's own in."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from probelet.replay.handlers.server.builtin import Http2
from probelet.replay.handlers.server.certificate import OURS
from probelet.replay.handlers.server.connection import Connection

Serve = Callable[[Connection, threading.Event], None]

SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"


@contextmanager
def h2c(status: int = 200, delay_ms: int = 0) -> Iterator[tuple[int, list[Connection]]]:
    """HTTP/2 without TLS; its port and the connections it had."""
    says = {"kind": "go-http", "status": status, "body": "said", "delay_ms": delay_ms}
    with _listening(lambda end, over: Http2(says, end, over).serve()) as server:
        yield server


@contextmanager
def http1() -> Iterator[tuple[int, list[Connection]]]:
    """HTTP/1.1 and nothing else: what net/http says to a client of HTTP/2."""

    def serve(end: Connection, over: threading.Event) -> None:
        while b"\r\n\r\n" not in end.received:
            if not end.receive():
                return
        is_known = end.received.startswith(b"GET / HTTP/1.1\r\n")
        end.send(b"HTTP/1.1 %s\r\nConnection: close\r\n\r\nsaid" % (b"200 OK" if is_known else b"400 Bad Request"))
        end.receive_left()
        end.close()

    with _listening(serve) as server:
        yield server


@contextmanager
def nobody() -> Iterator[int]:
    """A port that is taken, but where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("", 0))
        yield taken.getsockname()[1]


@contextmanager
def tls_health(cert: str = "rsa2048") -> Iterator[int]:
    """A gRPC health service over TLS with a certificate nobody signed: `down` is NOT_SERVING, all else SERVING."""
    server = grpc.server(ThreadPoolExecutor(4))

    def check(request: bytes, context: Any) -> bytes:
        return NOT_SERVING if request[2:] == b"down" else SERVING

    method = grpc.unary_unary_rpc_method_handler(check)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": method})])
    pem = (OURS / f"{cert}.pem").read_bytes()
    port = server.add_secure_port("0.0.0.0:0", grpc.ssl_server_credentials([(pem, pem)]))
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait()


@contextmanager
def _listening(serve: Serve) -> Iterator[tuple[int, list[Connection]]]:
    ends: list[Connection] = []
    over = threading.Event()

    def connection(end: Connection) -> None:
        with contextlib.suppress(OSError):
            serve(end, over)

    def accept() -> None:
        while True:
            try:
                taken, _ = listener.accept()
            except OSError:
                return
            ends.append(Connection(taken))
            threads.append(threading.Thread(target=connection, args=(ends[-1],)))
            threads[-1].start()

    with socket.create_server(("", 0)) as listener:
        threads = [threading.Thread(target=accept)]
        threads[0].start()
        try:
            yield listener.getsockname()[1], ends
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            threads[0].join()
            for end in ends:
                end.leave()
            for thread in threads[1:]:
                thread.join()
            for end in ends:
                end.close()
