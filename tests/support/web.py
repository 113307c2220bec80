"""A web server whose answers a test writes as a function, on the case server of ``probelet_conformance``."""

from collections.abc import Callable
from http import HTTPStatus
from types import TracebackType

from probelet_conformance.handlers.case.case import Listener
from probelet_conformance.handlers.server.server import Server as CaseServer

Reply = tuple[int, dict[str, str], str | bytes]
Answer = Callable[["Request"], Reply | None]

BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"


class Request:
    """A request as the server read it: its target, and its header lines in order, with unchanged names."""

    def __init__(self, text: str) -> None:
        self.text, _, _ = text.partition("\r\n\r\n")
        first, *lines = self.text.split("\r\n")
        self.target = first.split(" ")[1]
        self.path = self.target.partition("?")[0]
        self.lines = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.lines if key.lower() == name.lower()]

    @property
    def names(self) -> list[str]:
        """Header names without Host, which Go's server keeps apart."""
        return [key for key, _ in self.lines if key != "Host"]


class Server:
    """Answers every GET with ``answer``; None closes the connection without an answer."""

    def __init__(self, answer: Answer, address: str = "127.0.0.1") -> None:
        self.requests: list[Request] = []
        self._answer = answer
        builtin = {"kind": "function", "answer": self._serve}
        self._server = CaseServer((Listener("PORT", address, "builtin", None, None, (), builtin),))

    @property
    def port(self) -> int:
        return self._server.ports["PORT"]

    def __enter__(self) -> "Server":
        self._server.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.__exit__(kind, error, at)

    def _serve(self, received: bytes) -> bytes | None:
        # A client of HTTP/2 begins with PRI, one of TLS with a handshake.
        if not received.startswith(b"GET "):
            return BAD_REQUEST
        request = Request(received.decode("latin-1"))
        self.requests.append(request)
        reply = self._answer(request)
        if reply is None:
            return None
        status, headers, text = reply
        body = text.encode() if isinstance(text, str) else text
        lines = {"Content-Length": str(len(body)), **headers, "Connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"HTTP/1.1 {status} {phrase(status)}\r\n{head}\r\n".encode() + body


def phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
