"""The targets of recordings with sockets, as traces/README.md describes them: an HTTP server on 127.0.0.1:18980,
nothing on 18981, a gRPC health server on 18982.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc  # type: ignore[import-untyped]

HTTP_PORT = 18980
"""The recordings fix the port: it is part of their error texts."""

GRPC_ADDRESS = "127.0.0.1:18982"

BIG_BODY = b"x" * 40_000


class Answer(BaseHTTPRequestHandler):
    """Answers like the recorder's Go server."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path
        if path.startswith("/code/"):
            code = int(path.removeprefix("/code/"))
            self._send(code, b"" if code in (204, 304) else b"body for %d" % code)
        elif path == "/redirect-local":
            self._found("/code/200")
        elif path == "/redirect-local-500":
            self._found("/code/500")
        elif path == "/redirect-loop":
            self._found("/redirect-loop")
        elif path == "/redirect-nonlocal":
            self._send(302, b"go elsewhere", location=f"http://localhost:{HTTP_PORT}/code/200")
        elif path == "/big":
            self._send(200, BIG_BODY)
        elif path == "/headers":
            self._send(302, self._seen(), location=f"http://localhost:{HTTP_PORT}/")
        else:
            self._send(404, b"404 page not found\n")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers a TLS handshake like Go's server; Python's own answer would not be HTTP/1."""
        self.wfile.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request")
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing, because the probes' results are the output."""

    def _found(self, location: str) -> None:
        self._send(302, f'<a href="{location}">Found</a>.\n\n'.encode(), location=location)

    def _seen(self) -> bytes:
        names = sorted({name.title() for name in self.headers if name.lower() != "host"})
        quoted = (f" {name}=[{' '.join(map(_quoted, self.headers.get_all(name, [])))}]" for name in names)
        return f"host={self.headers['Host']} proto={self.request_version} uri={self.path}{''.join(quoted)}".encode()

    def _send(self, code: int, body: bytes, location: str | None = None) -> None:
        self.send_response_only(code)
        if location is not None:
            self.send_header("Location", location)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True


@contextmanager
def targets() -> Iterator[None]:
    """Serves while the block runs.

    Raises:
        OSError: another program has one of the ports.
    """
    with ThreadingHTTPServer(("127.0.0.1", HTTP_PORT), Answer) as server, _health_server():
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def _health_server() -> Iterator[None]:
    server = grpc.server(ThreadPoolExecutor(1))
    handler = grpc.unary_unary_rpc_method_handler(_check)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": handler})])
    try:
        server.add_insecure_port(GRPC_ADDRESS)
    except RuntimeError as error:
        raise OSError(f"{GRPC_ADDRESS}: {error}") from error
    server.start()
    try:
        yield
    finally:
        server.stop(None).wait()


def _check(request: bytes, context: grpc.ServicerContext) -> bytes:
    """Encodes HealthCheckRequest and HealthCheckResponse by hand: one field each (grpc.health.v1)."""
    service = request[2:].decode()
    if service not in SERVING:
        context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
    return bytes([STATUS_FIELD, SERVING[service]])


def _quoted(text: str) -> str:
    return f'"{text}"'


STATUS_FIELD = 0x08
"""Field 1, a varint."""

SERVING = {"": 1, "down": 2}
"""Service -> ServingStatus."""
