"""A web server of the test's own, on loopback: what ``httptest.NewServer`` is to upstream's tests."""

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from probelet._rust import attempt

Reply = tuple[int, dict[str, str], str]
Answer = Callable[["Request"], Reply | None]

USER_AGENT = "kube-probe/1.36"


class Request:
    """What the server read: the target, and the header lines in order, names as they came."""

    def __init__(self, target: str, lines: list[tuple[str, str]]) -> None:
        self.target = target
        self.path = target.partition("?")[0]
        self.lines = lines

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.lines if key.lower() == name.lower()]

    @property
    def names(self) -> list[str]:
        """Header names without Host, which Go's server keeps apart."""
        return [key for key, _ in self.lines if key != "Host"]


class Server:
    """Answers every GET with ``answer``; None is a connection that ends without a word."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[Request] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                request = Request(self.path, list(self.headers.items()))
                outer.requests.append(request)
                reply = answer(request)
                self.close_connection = True
                if reply is None:
                    return
                status, headers, text = reply
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                with suppress(OSError):
                    self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def ask(
    probe: dict[str, Any],
    ports: list[tuple[str, int]] | None = None,
    pod_ip: str = "127.0.0.1",
    kubelet_version: str = "1.36",
) -> dict[str, Any]:
    """One attempt of the production handler, with upstream's timeout of a second unless the probe has its own."""
    spec = json.dumps({"timeoutSeconds": 1, **probe}).encode()
    told: dict[str, Any] = json.loads(attempt(spec, pod_ip, ports or [], USER_AGENT, kubelet_version=kubelet_version))
    return told


def closed_port() -> int:
    """A port of loopback on which nothing listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    return port
