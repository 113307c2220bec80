"""The client of the pages of any service: of a controller, which has no control socket, or of a node over a tunnel."""

import http.client
import time
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from probelet.server.control.client import ANSWER_BYTES_MAX, ANSWER_SECONDS
from probelet.server.control.command import RefusedError
from probelet.server.error import NotRunningError

POLL_SECONDS: Final = 2.0
"""Pages have no stream: a follower asks again."""

MESSAGE_BYTES_MAX: Final = 1_000


class PagesClient:
    """Asks the pages at ``url``. Raises ValueError for what is no such URL; every method raises NotRunningError, one
    line, if they do not answer."""

    def __init__(
        self, url: str, sleep: Callable[[float], None] = time.sleep, now: Callable[[], float] = time.monotonic
    ) -> None:
        found = urlsplit(url)
        if found.scheme != "http" or not found.hostname or found.query or found.fragment:
            raise ValueError("want http://HOST:PORT")
        self._url = url
        self._host, self._port, self._path = found.hostname, found.port or 80, found.path.rstrip("/")
        self._sleep = sleep
        self._now = now

    def incidents(self) -> dict[str, Any]:
        """Fetches the incidents. Raises RefusedError if the service does not look for any."""
        status, body = self._get("/incidents")
        if status == 409:
            raise RefusedError(body[:MESSAGE_BYTES_MAX].decode(errors="replace").strip())
        if status != 200:
            raise NotRunningError(f"{self._url} answered {status}; no probelet has its pages there")
        try:
            document: dict[str, Any] = msgspec.json.decode(body, type=dict)
        except msgspec.DecodeError as error:
            raise NotRunningError(f"{self._url} gave an answer that is not JSON") from error
        if document.get("schema") != "probelet-incidents/1":
            raise NotRunningError(f"{self._url} gave no incidents; no probelet has its pages there")
        return document

    def follow_incidents(self, seconds: float | None = None) -> Iterator[dict[str, Any]]:
        """Yields the open incidents, then each change that two documents differ by. Returns after ``seconds``."""
        began = self._now()
        known: dict[str, dict[str, Any]] = {}
        is_first = True
        while True:
            document = self.incidents()
            yield from _changes(document, known, is_first=is_first)
            known = {found["id"]: found for found in document["open"]}
            is_first = False
            left = POLL_SECONDS if seconds is None else min(POLL_SECONDS, began + seconds - self._now())
            if left <= 0:
                return
            self._sleep(left)

    def _get(self, target: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", self._path + target)
            response = connection.getresponse()
            return response.status, response.read(ANSWER_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            raise NotRunningError(f"{self._url} does not answer: {error}") from error
        finally:
            connection.close()


def _changes(document: dict[str, Any], known: dict[str, dict[str, Any]], *, is_first: bool) -> Iterator[dict[str, Any]]:
    def change(what: str, incident: dict[str, Any]) -> dict[str, Any]:
        return {"schema": "probelet-incident/1", "at": document["as_of"], "change": what, "incident": incident}

    for found in document["open"]:
        before = known.get(found["id"])
        if before is None:
            yield change("open" if is_first else "began", found)
        elif (before["kind"], before["shared"], before["value"]) != (found["kind"], found["shared"], found["value"]):
            yield change("reclassified", found)
        elif before != found:
            yield change("grew", found)
    still = {found["id"] for found in document["open"]}
    for found in document["ended"]:
        if found["id"] in known and found["id"] not in still:
            yield change("ended", found)
