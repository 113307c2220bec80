"""A client of the cluster's API for the tests: independent of probelet's own, so that the judge is not the judged."""

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any, Self
from urllib.parse import urlencode

Object = dict[str, Any]
Connect = Callable[[str, int, float | None], socket.socket]
"""Makes a TCP connection in the network where the API server is."""

CALL_SECONDS = 10.0

MERGE, STRATEGIC, JSON = (f"application/{kind}-patch+json" for kind in ("merge", "strategic-merge", "json"))
APPLY = "application/apply-patch+yaml"
"""Content types of a PATCH."""


class ApiError(RuntimeError):
    """An answer that refuses. ``code`` is its HTTP status; 0 if there was no answer."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


class Api:
    """The API server as one user. Threads may share it: each call has a connection of its own thread."""

    def __init__(self, connect: Connect, host: str, port: int, token: str) -> None:
        self._connect, self._host, self._port, self._token = connect, host, port, token
        self._kept = threading.local()
        self._all: list[http.client.HTTPSConnection] = []

    def close(self) -> None:
        """Close the connections of every thread. No call may be under way."""
        for connection in self._all:
            connection.close()

    def as_user(self, token: str) -> Self:
        """The same server with another token."""
        return type(self)(self._connect, self._host, self._port, token)

    def get(self, path: str, **query: str) -> Object:
        return self.call("GET", path, query=query)

    def items(self, path: str, **query: str) -> list[Object]:
        found: list[Object] = self.get(path, **query)["items"] or []
        return found

    def create(self, path: str, body: Object) -> Object:
        return self.call("POST", path, body)

    def replace(self, path: str, body: Object) -> Object:
        return self.call("PUT", path, body)

    def patch(self, path: str, body: Any, kind: str = MERGE) -> Object:
        return self.call("PATCH", path, body, kind=kind)

    def delete(self, path: str, grace_seconds: int | None = None) -> Object:
        return self.call("DELETE", path, {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds})

    def text(self, path: str) -> str:
        """The answer to a GET as it came."""
        return self._send("GET", path, None, "").decode()

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        kind: str = "application/json",
        query: dict[str, str] | None = None,
    ) -> Object:
        """One request. Raises ApiError."""
        if query:
            path = f"{path}?{urlencode(query)}"
        answer: Object = json.loads(self._send(method, path, None if body is None else json.dumps(body), kind))
        return answer

    def watch(self, path: str, resource_version: str, seconds: float) -> Iterator[Object]:
        """The events of one watch, until it ends or is silent for so long. Raises ApiError if there is no answer."""
        query = urlencode({"watch": "1", "resourceVersion": resource_version, "allowWatchBookmarks": "true"})
        connection = self._opened(seconds)
        try:
            connection.request("GET", f"{path}?{query}", headers=self._headers())
            response = connection.getresponse()
            if response.status != http.client.OK:
                raise ApiError(response.status, response.read().decode(errors="replace"))
            while line := response.readline():
                yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError):
            return
        finally:
            connection.close()

    def _send(self, method: str, path: str, body: str | None, kind: str) -> bytes:
        kept: http.client.HTTPSConnection | None = getattr(self._kept, "connection", None)
        connection = kept or self._opened(CALL_SECONDS)
        self._kept.connection = None
        try:
            connection.request(method, path, body, {**self._headers(), "Content-Type": kind})
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if kept is not None and method in ("GET", "DELETE"):
                # The server that the connection led to has ended meanwhile; what may come twice is sent again.
                return self._send(method, path, body, kind)
            raise ApiError(0, f"{method} {path}: {error!r}") from None
        self._kept.connection = connection
        if response.status >= http.client.BAD_REQUEST:
            raise ApiError(response.status, f"{method} {path}: {response.status} {_words(answer)}")
        return answer

    def _opened(self, seconds: float) -> http.client.HTTPSConnection:
        try:
            plain = self._connect(self._host, self._port, seconds)
            # Nothing leads into the network of the cluster, so the certificate proves nothing.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection(self._host, self._port, context=context)
            connection.sock = context.wrap_socket(plain, server_hostname=self._host)
        except OSError as error:
            raise ApiError(0, f"{self._host}:{self._port}: {error}") from None
        self._all.append(connection)
        return connection

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}


def _words(answer: bytes) -> str:
    try:
        return str(json.loads(answer).get("message", ""))
    except ValueError:
        return answer.decode(errors="replace")
