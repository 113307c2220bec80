"""The client of the control socket. It uses the standard library alone, so that a verb starts quickly."""

import http.client
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec

from probelet.server.control.command import NoSuchPodError, RefusedError
from probelet.server.control.connection import ControlConnection, deadline_after
from probelet.server.error import NotRunningError

# The service answers from memory; after this long without an answer it is stuck.
ANSWER_SECONDS = 5.0
# How long a whole answer may take: the status of the most pods that a service has, on a busy machine.
WHOLE_ANSWER_SECONDS = 30.0
# The largest answer: the status of the most pods that a service has, each with the longest output of its probes.
ANSWER_BYTES_MAX = 256 * 1024 * 1024
# The longest message of an error, and the longest line of an event.
LINE_BYTES_MAX = 1024 * 1024

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Client:
    """Asks the service of one state directory. Every method raises NotRunningError, one line, if none answers."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir

    def status(self, history: int = 0) -> dict[str, Any]:
        """Fetches the status document, with as many of its last attempts of each probe as ``history`` says."""
        return self._decoded(self._get(f"/status?history={history}" if history else "/status"))

    def events(self, since: int = 0) -> list[dict[str, Any]]:
        """Fetches the kept events with ``seq > since``, oldest first."""
        return [self._decoded(line) for line in self._get(f"/events?since={since}").splitlines()]

    def incidents(self) -> dict[str, Any]:
        """Fetches the incidents. Raises RefusedError if the service does not look for any."""
        return self._decoded(self._get("/incidents"))

    def logs(self, pod: str) -> dict[str, Any]:
        """Asks where the logs of a pod are. Raises NoSuchPodError if the service has no such pod."""
        return self._decoded(self._get(f"/logs?{urlencode({'pod': pod})}"))

    def command(self, name: Literal["retry", "reset"], pod: str, container: str | None) -> dict[str, Any]:
        """Sends one command; the answer names its containers. Raises NoSuchPodError if the service has no such pod, and
        RefusedError if it does not do what the command asks for."""
        query = urlencode({"pod": pod} | ({"container": container} if container else {}))
        return self._decoded(self._get(f"/{name}?{query}", method="POST"))

    def pause(self, pod: str, container: str | None, probe_type: str | None, seconds: int) -> dict[str, Any]:
        """Pauses probes, or with 0 seconds ends their pauses; the answer names the probes. Raises as ``command``."""
        query = {"pod": pod, "container": container, "probe": probe_type, "seconds": str(seconds)}
        given = urlencode({key: value for key, value in query.items() if value is not None})
        return self._decoded(self._get(f"/pause?{given}", method="POST"))

    def follow(self, since: int = 0, seconds: float | None = None) -> Iterator[dict[str, Any]]:
        """Yields the kept events, then new ones. Returns after ``seconds``; raises when the service ends."""
        return self._follow(f"/events?since={since}&follow=1", seconds)

    def follow_incidents(self, seconds: float | None = None) -> Iterator[dict[str, Any]]:
        """Yields the open incidents, then each change, as ``follow``. Raises RefusedError as ``incidents``."""
        return self._follow("/incidents?follow=1", seconds)

    def _follow(self, target: str, seconds: float | None) -> Iterator[dict[str, Any]]:
        deadline = deadline_after(seconds)
        connection, response = self._open(target)
        try:
            while True:
                connection.set_deadline(deadline)
                line = response.readline(LINE_BYTES_MAX)
                if not line.endswith(b"\n"):
                    raise NotRunningError(f"the service in {self._state_dir} has ended")
                yield self._decoded(line)
        except TimeoutError:
            return
        except (OSError, http.client.HTTPException) as error:
            raise NotRunningError(f"the service in {self._state_dir} has ended") from error
        finally:
            connection.close()

    def _decoded(self, data: bytes) -> dict[str, Any]:
        try:
            document: dict[str, Any] = msgspec.json.decode(data, type=dict)
        except _UNREADABLE as error:
            raise NotRunningError(f"the service in {self._state_dir} gave an answer that is not JSON") from error
        return document

    def _get(self, target: str, method: str = "GET") -> bytes:
        connection, response = self._open(target, method)
        try:
            connection.set_deadline(deadline_after(WHOLE_ANSWER_SECONDS))
            body = response.read(ANSWER_BYTES_MAX + 1)
            if response.length and len(body) <= ANSWER_BYTES_MAX:
                raise http.client.IncompleteRead(body, response.length)
        except TimeoutError as error:
            seconds = f"{WHOLE_ANSWER_SECONDS:g} s"
            raise NotRunningError(
                f"the service in {self._state_dir} did not end its answer within {seconds}"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise NotRunningError(f"the service in {self._state_dir} closed the connection mid-answer") from error
        finally:
            connection.close()
        if len(body) > ANSWER_BYTES_MAX:
            raise NotRunningError(
                f"the answer of the service in {self._state_dir} has more than {ANSWER_BYTES_MAX} bytes"
            )
        return body

    def _open(self, target: str, method: str = "GET") -> tuple[ControlConnection, http.client.HTTPResponse]:
        connection = ControlConnection(self._state_dir, deadline_after(ANSWER_SECONDS))
        with ExitStack() as stack:
            stack.callback(connection.close)
            response = self._asked(connection, method, target)
            if response.status == 200:
                stack.pop_all()
                return connection, response
            message = ""
            with suppress(OSError, http.client.HTTPException):
                message = response.read(LINE_BYTES_MAX).decode(errors="replace").strip()
            if response.status == 404 and (method == "POST" or target.startswith("/logs?")):
                raise NoSuchPodError(message)
            if response.status == 409:
                raise RefusedError(message)
            raise NotRunningError(f"the service in {self._state_dir} answered {response.status}: {message}")

    def _asked(self, connection: ControlConnection, method: str, target: str) -> http.client.HTTPResponse:
        try:
            connection.request(method, target)
            return connection.getresponse()
        except TimeoutError as error:
            raise NotRunningError(
                f"the service in {self._state_dir} did not answer within {ANSWER_SECONDS:g} s"
            ) from error
        except PermissionError as error:
            raise NotRunningError(f"the service in {self._state_dir} belongs to another user") from error
        except (OSError, http.client.HTTPException) as error:
            raise NotRunningError(f"no probelet runs in {self._state_dir}") from error
