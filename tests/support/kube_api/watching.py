"""Open watches: what each client still has to get, and how a test ends or garbles them."""

import asyncio
import json
from typing import Any

from aiohttp import web
from probelet.kube.kind import Kind

from tests.support.kube_api.refusal import RefusalError, status
from tests.support.kube_api.selector import Matches
from tests.support.kube_api.store import Change, Store


class Watch:
    """One open watch. It sends in the order of the versions, as soon as something changes."""

    def __init__(self, store: Store, kind: Kind, namespace: str, matches: Matches, version: int) -> None:
        self.kind = kind
        self.silent = False
        """Sends nothing while this is true."""
        self.version = version
        self._store = store
        self._namespace = namespace
        self._matches = matches
        self._changed = asyncio.Event()
        self._raw: list[bytes] = []
        self._ended = False
        self._request: web.Request | None = None

    def wake(self) -> None:
        self._changed.set()

    def send(self, raw: bytes) -> None:
        """Sends these bytes after what is due, as they are."""
        self._raw.append(raw)
        self.wake()

    def bookmark(self) -> None:
        """Sends a bookmark of the newest version."""
        metadata = {"resourceVersion": str(self._store.version)}
        found = {"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": metadata}
        self.send(_line("BOOKMARK", found))

    def expire(self) -> None:
        """Sends the ERROR event of a version that is too old, and ends."""
        self.send(_line("ERROR", status(410, "too old resource version")))
        self.end()

    def end(self) -> None:
        """Ends the stream as a server does after ``timeoutSeconds``."""
        self._ended = True
        self.wake()

    def abort(self) -> None:
        """Closes the connection in the middle of the stream."""
        assert self._request is not None, "the watch is open"
        transport = self._request.transport
        assert isinstance(transport, asyncio.WriteTransport)
        transport.abort()

    async def serve(self, request: web.Request, seconds: float) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        self._request = request
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            self._changed.clear()
            if not self.silent:
                for line in self._due():
                    await response.write(line)
                while self._raw:
                    await response.write(self._raw.pop(0))
            if self._ended:
                break
            try:
                async with asyncio.timeout_at(deadline):
                    await self._changed.wait()
            except TimeoutError:
                break
        await response.write_eof()
        return response

    def _due(self) -> list[bytes]:
        try:
            changes = self._store.since(self.kind, self.version)
        except RefusalError as refused:
            self._ended = True
            return [_line("ERROR", refused.status)]
        # As a kube-apiserver does: a watch from a version that is yet to come leaves out what is before it.
        self.version = max(self.version, self._store.version)
        return [line for change in changes if (line := self._event(change)) is not None]

    def _event(self, change: Change) -> bytes | None:
        before, after = self._seen(change.before), self._seen(change.after)
        if after is not None:
            return _line("MODIFIED" if before is not None else "ADDED", after)
        if before is None:
            return None
        # A deletion has the object's last state, at the version of the deletion.
        return _line("DELETED", before | {"metadata": before["metadata"] | {"resourceVersion": str(change.version)}})

    def _seen(self, found: dict[str, Any] | None) -> dict[str, Any] | None:
        if found is None or (self._namespace and found["metadata"].get("namespace") != self._namespace):
            return None
        return found if self._matches(found) else None


def _line(type: str, found: dict[str, Any]) -> bytes:
    return json.dumps({"type": type, "object": found}).encode() + b"\n"
