"""The server's side of a connection, plain or TLS, with every way to end it."""

import contextlib
import socket
import ssl
import struct
import threading

from probelet_conformance.handlers.server.tls import Hello

RECEIVE_BYTES = 65_536


class Connection:
    """A plain connection. `leave` wakes every thread that waits on it; the thread then finds it closed."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._closing = threading.Lock()
        self.is_open = True
        self.received = bytearray()
        self.hello: Hello | None = None
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def receive(self) -> bytes:
        """The next bytes; none once the client has closed."""
        data = self._socket.recv(RECEIVE_BYTES)
        self.received += data
        return data

    def receive_left(self) -> None:
        """Reads everything that the client has sent so far."""
        self._socket.setblocking(False)
        with contextlib.suppress(OSError, ssl.SSLError):
            while self.receive():
                pass
        self._socket.setblocking(True)

    def receive_raw_left(self) -> None:
        """Reads everything that the client has sent so far, without decrypting it."""
        self._socket.setblocking(False)
        with contextlib.suppress(OSError):
            while self._socket.recv(RECEIVE_BYTES):
                pass

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def half_close(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.tcp_close()

    def tcp_close(self) -> None:
        """Closes without a TLS close_notify; if data is unread, the kernel sends RST."""
        with self._closing:
            if self.is_open:
                self.is_open = False
                self._socket.close()

    def reset(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.tcp_close()

    def leave(self) -> None:
        """Ends every read and write after the probe's end."""
        with self._closing, contextlib.suppress(OSError):
            if self.is_open:
                self._socket.shutdown(socket.SHUT_RDWR)


class TlsConnection(Connection):
    """A TLS connection over memory buffers, so that close_notify and FIN can be sent separately."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        super().__init__(sock)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    def handshake(self, first: bytes) -> None:
        self._incoming.write(first)
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._feed()
            except ssl.SSLError:
                self._flush()
                raise
            else:
                self._flush()
                return

    @property
    def protocol(self) -> str | None:
        return self._tls.selected_alpn_protocol()

    def _flush(self) -> None:
        if data := self._outgoing.read():
            self._socket.sendall(data)

    def _feed(self) -> None:
        data = self._socket.recv(RECEIVE_BYTES)
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def receive(self) -> bytes:
        while True:
            try:
                data = self._tls.read(RECEIVE_BYTES)
            except ssl.SSLWantReadError:
                self._feed()
            except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
                return b""
            else:
                self.received += data
                return data

    def send(self, data: bytes) -> None:
        self._tls.write(data)
        self._flush()

    def half_close(self) -> None:
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()
        self._flush()

    def close(self) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            self.half_close()
        self.tcp_close()
