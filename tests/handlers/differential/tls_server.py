"""The TLS servers of the differential test: one of Go for certificates and offers, one of OpenSSL for tickets."""

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from probelet_conformance.handlers.server.certificate import OURS

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
# Longer than any prober waits, so that the server never gives up first.
GIVE_UP_S = 10.0


class GoTls:
    """A running `gotls`, which meets one case at a time."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self._line())

    def __enter__(self) -> "GoTls":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # The process exits at the end of its input.
        self._process.communicate()

    def names(self) -> list[str]:
        """The cases that have a name."""
        return self._asked("?").split()

    def begin(self, name: str) -> None:
        """Makes the next connections meet the case."""
        if (told := self._asked(name)) != "ok":
            raise RuntimeError(f"gotls does not know {name!r}: {told!r}")

    def _asked(self, line: str) -> str:
        if self._process.stdin is None:
            raise TypeError("the process was started with pipes")
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> str:
        if self._process.stdout is None:
            raise TypeError("the process was started with pipes")
        return self._process.stdout.readline().strip()


@contextlib.contextmanager
def tickets(count: int) -> Iterator[int]:
    """A server that sends so many session tickets before its answer; yields its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(OURS / "ecdsa.pem")
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = count
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connection.settimeout(GIVE_UP_S)
                with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as session:
                    session.recv(65_536)
                    session.sendall(ANSWER)
                    session.unwrap()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
