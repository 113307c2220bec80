"""A raw server that sends a case's answers to one prober and keeps the requests of that prober."""

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Sequence
from types import TracebackType

from tests.handlers.differential.case import Answer, End

# Longer than any prober waits, so that the server never gives up first.
GIVE_UP_S = 10.0
# Long enough for a prober to read the part before, unless the machine starves it.
PAUSE_S = 0.005
RECEIVE_BYTES = 65_536
# The first byte of a TLS handshake. Its sender waits for an answer before it sends a request.
HANDSHAKE = b"\x16"


class Server:
    """Two listening ports and one closed port, in one thread: a prober makes one connection at a time."""

    def __init__(self) -> None:
        self._listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self._unheard = socket.socket()
        self._unheard.bind(("127.0.0.1", 0))
        sockets = zip(("PORT", "PORT2", "CLOSED"), [*self._listeners, self._unheard], strict=True)
        self.ports = {name: sock.getsockname()[1] for name, sock in sockets}
        self._bell, self._heard = socket.socketpair()
        self._idle = threading.Event()
        self._answers: Sequence[Answer] = ()
        self._received: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bell.close()
        self._thread.join()
        for sock in (*self._listeners, self._unheard, self._heard):
            sock.close()

    def begin(self, answers: Sequence[Answer]) -> None:
        """Starts a case: the next connection gets the first of ``answers``, whose placeholders are replaced already."""
        self._answers, self._received = answers, []

    def received(self) -> list[bytes]:
        """The request of each connection; call it after the prober has returned."""
        self._idle.clear()
        self._bell.send(b".")
        self._idle.wait()
        return self._received

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([*self._listeners, self._heard], [], [])
            # Read the wake-up byte last: connections made before it belong to the prober that has returned.
            waiting = [sock for sock in ready if sock is not self._heard]
            for sock in waiting:
                with contextlib.suppress(OSError):
                    self._converse(sock.accept()[0])
            if not waiting:
                if not self._heard.recv(1):
                    return
                self._idle.set()

    def _converse(self, sock: socket.socket) -> None:
        answer = self._answers[min(len(self._received), len(self._answers) - 1)]
        request = bytearray()
        self._received.append(b"")
        number = len(self._received) - 1
        with sock:
            sock.settimeout(GIVE_UP_S)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while b"\r\n\r\n" not in request and not request.startswith(HANDSHAKE):
                received = sock.recv(RECEIVE_BYTES)
                request += received
                self._received[number] = bytes(request)
                if not received:
                    return
            for index, part in enumerate(answer.parts):
                if index:
                    time.sleep(PAUSE_S)
                sock.sendall(part)
            if answer.end is End.RESET:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif answer.end is End.HOLD:
                while sock.recv(RECEIVE_BYTES):
                    pass
