"""A client of the API server for the tests: independent of probelet's own."""

import http.client
import json
import ssl
from typing import Any

Json = dict[str, Any]

MERGE, STRATEGIC, JSON_PATCH = (f"application/{kind}-patch+json" for kind in ("merge", "strategic-merge", "json"))
APPLY = "application/apply-patch+yaml"
"""Content types of a PATCH."""

CALL_SECONDS = 30.0


class Refused(RuntimeError):
    """The API server refuses. ``status`` is the whole Status."""

    def __init__(self, status: Json) -> None:
        super().__init__(str(status.get("message")))
        self.status = status
        self.code = int(status.get("code", 0))


class Client:
    """The API server as one user. ``warnings`` has those of the last call."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self.token = token
        self.warnings: list[str] = []

    def as_user(self, token: str) -> "Client":
        return Client(self._port, token)

    def get(self, path: str) -> Json:
        return self.call("GET", path)

    def create(self, path: str, body: Json) -> Json:
        return self.call("POST", path, body)

    def patch(self, path: str, body: Any, kind: str = MERGE) -> Json:
        return self.call("PATCH", path, body, kind)

    def delete(self, path: str) -> Json:
        return self.call("DELETE", path, {"gracePeriodSeconds": 0})

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Json:
        """One request. Raises Refused."""
        # The server makes its own certificate, and listens on loopback.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=CALL_SECONDS, context=context)
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        self.warnings = [
            # `299 - "text"`
            json.loads(value.split(" ", 2)[2])
            for name, value in response.getheaders()
            if name.lower() == "warning"
        ]
        said = {"message": answer.decode(errors="replace"), "code": response.status}
        document: Json = json.loads(answer) if answer.startswith(b"{") else said
        if response.status >= 400:
            raise Refused(document)
        return document
