"""The client of the control socket. It uses the standard library alone, so that a verb starts quickly."""

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec

from probelet.server.control.command import NoSuchPodError
from probelet.server.control.state_dir import socket_path
from probelet.server.error import NotRunningError

# The service answers from memory; after this long without an answer it is stuck.
ANSWER_SECONDS = 5.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("probelet", timeout=ANSWER_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))

    def set_read_timeout(self, seconds: float | None) -> None:
        """Bounds the next read; None removes the bound. At least 1 ms, because 0 would make the socket non-blocking."""
        self.sock.settimeout(None if seconds is None else max(seconds, 0.001))


class Client:
    """Asks the service of one state directory. Every method raises NotRunningError, one line, if none answers."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir

    def status(self) -> dict[str, Any]:
        """Fetches the status document."""
        document: dict[str, Any] = msgspec.json.decode(self._get("/status"))
        return document

    def events(self, since: int = 0) -> list[dict[str, Any]]:
        """Fetches the kept events with ``seq > since``, oldest first."""
        return [msgspec.json.decode(line) for line in self._get(f"/events?since={since}").splitlines()]

    def command(self, name: Literal["retry", "reset"], pod: str, container: str | None) -> dict[str, Any]:
        """Sends one command; the answer names its containers. Raises NoSuchPodError if the service has no such pod."""
        query = urlencode({"pod": pod} | ({"container": container} if container else {}))
        done: dict[str, Any] = msgspec.json.decode(self._get(f"/{name}?{query}", method="POST"))
        return done

    def follow(self, since: int = 0, seconds: float | None = None) -> Iterator[dict[str, Any]]:
        """Yields the kept events, then new ones. Returns after ``seconds``; raises when the service ends."""
        deadline = None if seconds is None else time.monotonic() + seconds
        connection, response = self._open(f"/events?since={since}&follow=1")
        try:
            while deadline is None or time.monotonic() < deadline:
                connection.set_read_timeout(None if deadline is None else deadline - time.monotonic())
                line = response.readline()
                if not line:
                    raise NotRunningError(f"the service in {self._state_dir} has ended")
                yield msgspec.json.decode(line)
        except TimeoutError:
            return
        except (OSError, http.client.HTTPException) as error:
            raise NotRunningError(f"the service in {self._state_dir} has ended") from error
        finally:
            connection.close()

    def _get(self, target: str, method: str = "GET") -> bytes:
        connection, response = self._open(target, method)
        try:
            return response.read()
        except (OSError, http.client.HTTPException) as error:
            raise NotRunningError(f"the service in {self._state_dir} closed the connection mid-answer") from error
        finally:
            connection.close()

    def _open(self, target: str, method: str = "GET") -> tuple[_UnixConnection, http.client.HTTPResponse]:
        connection = _UnixConnection(socket_path(self._state_dir))
        try:
            connection.request(method, target)
            response = connection.getresponse()
        except TimeoutError as error:
            connection.close()
            raise NotRunningError(
                f"the service in {self._state_dir} did not answer within {ANSWER_SECONDS:g} s"
            ) from error
        except PermissionError as error:
            connection.close()
            raise NotRunningError(f"the service in {self._state_dir} belongs to another user") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NotRunningError(f"no probelet runs in {self._state_dir}") from error
        if response.status != 200:
            message = response.read().decode(errors="replace").strip()
            connection.close()
            if response.status == 404 and method == "POST":
                raise NoSuchPodError(message)
            raise NotRunningError(f"the service in {self._state_dir} answered {response.status}: {message}")
        return connection, response
