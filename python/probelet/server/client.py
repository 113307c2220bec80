"""The client of the control socket. The standard library's: a verb that asks one thing is done in a blink."""

import http.client
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec

from probelet.server.command import NoSuchPodError
from probelet.server.error import NotRunningError
from probelet.server.state_dir import socket_path

# A service that is alive answers from memory; one that does not within this is stuck.
ANSWER_SECONDS = 5.0


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("probelet", timeout=ANSWER_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))

    def wait_no_longer_than(self, seconds: float | None) -> None:
        """For the next read only; None waits for as long as the service is there. Zero would mean not to block."""
        self.sock.settimeout(None if seconds is None else max(seconds, 0.001))


class Client:
    """Asks the service of one state directory. Every method raises NotRunningError, one line, when none answers."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir

    def status(self) -> dict[str, Any]:
        """The status document."""
        document: dict[str, Any] = msgspec.json.decode(self._get("/status"))
        return document

    def events(self, since: int = 0) -> list[dict[str, Any]]:
        """The events the service keeps with ``seq > since``, oldest first."""
        return [msgspec.json.decode(line) for line in self._get(f"/events?since={since}").splitlines()]

    def command(self, name: Literal["retry", "reset"], pod: str, container: str | None) -> dict[str, Any]:
        """Have something done; the answer says for which containers. Raises NoSuchPodError for a name it has not."""
        query = urlencode({"pod": pod} | ({"container": container} if container else {}))
        done: dict[str, Any] = msgspec.json.decode(self._get(f"/{name}?{query}", method="POST"))
        return done

    def follow(self, since: int = 0, seconds: float | None = None) -> Iterator[dict[str, Any]]:
        """The events kept, then each new one as it comes; ends after ``seconds``, raises when the service ends."""
        deadline = None if seconds is None else time.monotonic() + seconds
        connection, response = self._open(f"/events?since={since}&follow=1")
        try:
            while deadline is None or time.monotonic() < deadline:
                connection.wait_no_longer_than(None if deadline is None else deadline - time.monotonic())
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
            raise NotRunningError(f"the service in {self._state_dir} broke off its answer") from error
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
            raise NotRunningError(f"the service in {self._state_dir} belongs to somebody else") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NotRunningError(f"no probelet runs in {self._state_dir}") from error
        if response.status != 200:
            said = response.read().decode(errors="replace").strip()
            connection.close()
            if response.status == 404 and method == "POST":
                raise NoSuchPodError(said)
            raise NotRunningError(f"the service in {self._state_dir} said {response.status}: {said}")
        return connection, response
