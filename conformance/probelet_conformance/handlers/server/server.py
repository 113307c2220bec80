"""A case's server: its listeners, and one thread per connection."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from probelet_conformance.handlers.case.case import Listener
from probelet_conformance.handlers.server.builtin import PLAIN_TO_TLS, serve
from probelet_conformance.handlers.server.connection import RECEIVE_BYTES, Connection, TlsConnection
from probelet_conformance.handlers.server.script import Script
from probelet_conformance.handlers.server.tls import ALERT_NO_PROTOCOL, Hello, context_of

ACCEPT_POLL_S = 0.02
# More connections than an accept queue of length 0 holds.
FILLERS = 4
FILLED_AFTER_S = 0.05
SETTLE_S = 0.02


class Server:
    """Listens on every socket of a case; leaving the context ends every connection and keeps its received bytes."""

    def __init__(self, listeners: tuple[Listener, ...]) -> None:
        self._listeners = listeners
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self.ports: dict[str, int] = {}
        self.connections: dict[str, list[Connection]] = {}

    def __enter__(self) -> "Server":
        """Listens. Raises OSError if another program has a port that a listener names."""
        accepting = []
        for listener in self._listeners:
            self.connections[listener.port] = []
            try:
                sock = self._bind(listener)
            except OSError:
                self.__exit__(None, None, None)
                raise
            self.ports[listener.port] = sock.getsockname()[1]
            if listener.mode in ("script", "builtin"):
                accepting.append((listener, sock))
        # A script may name any port, so all ports must be known before the first script.
        for listener, sock in accepting:
            self._start(self._accept, listener, sock)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        for connections in self.connections.values():
            for connection in connections:
                connection.leave()
        for thread in self._threads:
            thread.join()
        for sock in self._sockets:
            sock.close()
        for connections in self.connections.values():
            for connection in connections:
                if connection.is_open:
                    connection.receive_left()
                    connection.tcp_close()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _bind(self, listener: Listener) -> socket.socket:
        family = socket.AF_INET6 if ":" in listener.address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        self._sockets.append(sock)
        # Connections that have ended keep a fixed port busy for a minute.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((listener.address, listener.number))
        if listener.mode == "full-backlog":
            sock.listen(0)
            self._fill(sock)
        elif listener.mode != "bound-not-listening":
            sock.listen(128)
        return sock

    def _fill(self, sock: socket.socket) -> None:
        for _ in range(FILLERS):
            filler = socket.socket(sock.family, socket.SOCK_STREAM)
            filler.setblocking(False)
            filler.connect_ex(sock.getsockname())
            self._sockets.append(filler)
        time.sleep(FILLED_AFTER_S)

    def _accept(self, listener: Listener, sock: socket.socket) -> None:
        # Loading a key takes time, so the context is created before a client waits for it.
        context = context_of(listener.tls, listener.certificate) if listener.tls and listener.certificate else None
        is_last = False
        while not is_last:
            # Accept once more after the probe's end: the probe may end before its connection appears here.
            is_last = self._over.is_set()
            sock.settimeout(0 if is_last else ACCEPT_POLL_S)
            try:
                accepted, _ = sock.accept()
            except (TimeoutError, BlockingIOError):
                continue
            is_last = False
            accepted.settimeout(None)
            connection = TlsConnection(accepted, context) if context else Connection(accepted)
            self.connections[listener.port].append(connection)
            self._start(self._serve, listener, connection, len(self.connections[listener.port]) - 1, accepted)

    def _serve(self, listener: Listener, connection: Connection, number: int, sock: socket.socket) -> None:
        if isinstance(connection, TlsConnection) and not self._handshake(
            listener.tls or {}, bool(listener.builtin), connection, sock
        ):
            return
        if listener.mode == "builtin":
            with contextlib.suppress(OSError, ssl.SSLError):
                serve(listener.builtin, connection, self._over)
            return
        script = listener.scripts[min(number, len(listener.scripts) - 1)]
        Script(connection, self.ports, self._over).play(script)

    def _handshake(self, tls: Mapping[str, Any], builtin: bool, connection: TlsConnection, sock: socket.socket) -> bool:
        try:
            first = sock.recv(RECEIVE_BYTES)
            connection.hello = Hello.of(first)
            if builtin and first.startswith(b"GET "):
                sock.sendall(PLAIN_TO_TLS)
                connection.tcp_close()
                return False
            if connection.hello is not None and not connection.hello.fits(tls.get("alpn") or []):
                sock.sendall(ALERT_NO_PROTOCOL)
                connection.tcp_close()
                return False
            connection.handshake(first)
        except (OSError, ssl.SSLError):
            # Reads the client's remaining bytes; unread, they would turn our alert into a reset.
            self._over.wait(SETTLE_S)
            connection.receive_raw_left()
            connection.tcp_close()
            return False
        return True
