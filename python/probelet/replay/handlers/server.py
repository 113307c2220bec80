"""A case's server: its listeners, and a thread for every connection that comes."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from probelet.replay.handlers.builtin import PLAIN_TO_TLS, serve
from probelet.replay.handlers.case import Listener
from probelet.replay.handlers.end import RECEIVE_BYTES, End, TlsEnd
from probelet.replay.handlers.script import Script
from probelet.replay.handlers.tls import ALERT_NO_PROTOCOL, Hello, context_of

ACCEPT_POLL_S = 0.02
# More than any accept queue of length 0 takes in.
FILLERS = 4
FILLED_AFTER_S = 0.05
SETTLE_S = 0.02


class Server:
    """Everything a case listens on; leaving it ends every connection and keeps what they received."""

    def __init__(self, listeners: tuple[Listener, ...]) -> None:
        self._listeners = listeners
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self.ports: dict[str, int] = {}
        self.ends: dict[str, list[End]] = {}

    def __enter__(self) -> "Server":
        accepting = []
        for listener in self._listeners:
            self.ends[listener.port] = []
            sock = self._bind(listener)
            self.ports[listener.port] = sock.getsockname()[1]
            if listener.mode in ("script", "builtin"):
                accepting.append((listener, sock))
        # A script may name any of the ports, so none is played before all are known.
        for listener, sock in accepting:
            self._start(self._accept, listener, sock)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        for ends in self.ends.values():
            for end in ends:
                end.leave()
        for thread in self._threads:
            thread.join()
        for sock in self._sockets:
            sock.close()
        for ends in self.ends.values():
            for end in ends:
                if end.is_open:
                    end.receive_left()
                    end.tcp_close()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _bind(self, listener: Listener) -> socket.socket:
        family = socket.AF_INET6 if ":" in listener.address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        self._sockets.append(sock)
        sock.bind((listener.address, 0))
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
        # The context costs a key to load, so it is made once and not while a client waits.
        context = context_of(listener.tls, listener.certificate) if listener.tls and listener.certificate else None
        is_last = False
        while not is_last:
            # One more look once the probe is over: it may be gone before its connection is seen.
            is_last = self._over.is_set()
            sock.settimeout(0 if is_last else ACCEPT_POLL_S)
            try:
                accepted, _ = sock.accept()
            except (TimeoutError, BlockingIOError):
                continue
            is_last = False
            accepted.settimeout(None)
            end = TlsEnd(accepted, context) if context else End(accepted)
            self.ends[listener.port].append(end)
            self._start(self._serve, listener, end, len(self.ends[listener.port]) - 1, accepted)

    def _serve(self, listener: Listener, end: End, number: int, sock: socket.socket) -> None:
        if isinstance(end, TlsEnd) and not self._handshake(listener.tls or {}, bool(listener.builtin), end, sock):
            return
        if listener.mode == "builtin":
            with contextlib.suppress(OSError, ssl.SSLError):
                serve(listener.builtin, end, self._over)
            return
        script = listener.scripts[min(number, len(listener.scripts) - 1)]
        Script(end, self.ports, self._over).play(script)

    def _handshake(self, tls: Mapping[str, Any], builtin: bool, end: TlsEnd, sock: socket.socket) -> bool:
        try:
            first = sock.recv(RECEIVE_BYTES)
            end.hello = Hello.of(first)
            if builtin and first.startswith(b"GET "):
                sock.sendall(PLAIN_TO_TLS)
                end.tcp_close()
                return False
            if end.hello is not None and not end.hello.fits(tls.get("alpn") or []):
                sock.sendall(ALERT_NO_PROTOCOL)
                end.tcp_close()
                return False
            end.handshake(first)
        except (OSError, ssl.SSLError):
            # What the client still says must not turn our alert into a reset.
            self._over.wait(SETTLE_S)
            end.receive_raw_left()
            end.tcp_close()
            return False
        return True
