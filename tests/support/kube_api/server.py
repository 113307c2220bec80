"""The server: HTTP in, the store behind it, and the faults between them."""

import asyncio
import json
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from probelet.kube.connection import Connection
from probelet.kube.kind import Kind

from tests.support.kube_api import selector
from tests.support.kube_api.certificates import make_certificates
from tests.support.kube_api.faults import Answer, Delay, Drop, Faults
from tests.support.kube_api.refusal import RefusalError, status
from tests.support.kube_api.store import Object, Store
from tests.support.kube_api.target import Target, target, verb
from tests.support.kube_api.watching import Watch
from tests.support.kube_api.writing import WITH_STATUS, Writer

BODY_BYTES_MAX = 3 * 1024 * 1024
"""As the API server's limit on a request."""

ACCEPTING_TURNS = 4
"""Turns of the loop from a connection that asyncio accepts to one that aiohttp knows, and closes."""


class KubeApi:
    """An API server on loopback; an async context manager. ``requests`` has each request as verb and path.

    With ``tls`` it has a certificate of its own authority, ``folder / "ca.crt"``.
    """

    def __init__(self, *, tls: bool = False) -> None:
        self.faults = Faults()
        self.store = Store()
        self.requests: list[tuple[str, str]] = []
        self.watches: list[Watch] = []
        """The open watches, oldest first."""
        self.silent = False
        """New watches say nothing."""
        self.expired_as_status = False
        """A watch of a forgotten version gets 410 as the status of the answer, and not in the stream."""
        self.tokens: set[str] | None = None
        """The bearer tokens that are accepted; None accepts everybody."""
        self.port = 0
        self.connections = 0
        """How many connections clients have opened."""
        self._is_closing = False
        self._peers: set[tuple[str, int]] = set()
        self._writer = Writer(self.store)
        self._runner: web.AppRunner | None = None
        self._listening: Sequence[socket.socket] = ()
        self._files = tempfile.TemporaryDirectory(prefix="probelet-kube-api-")
        self.folder = Path(self._files.name)
        self._tls = make_certificates(self.folder) if tls else None
        self._news = asyncio.Event()
        self.store.listeners.append(self._wake)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.accept()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.refuse()
        self._files.cleanup()

    def kubeconfig(self, cluster: Mapping[str, object] | None = None, **user: object) -> Path:
        """A kubeconfig file for this server, whose cluster and user have the given fields."""
        path = self.folder / "kubeconfig"
        # Without TLS nobody needs the machine's authorities, which take 17 ms of a core to read.
        trusts = {"certificate-authority": "ca.crt"} if self._tls else {"insecure-skip-tls-verify": True}
        found = {"server": self.url} | trusts | dict(cluster or {})
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "test", "cluster": found}],
                    "users": [{"name": "test", "user": user}],
                    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                    "current-context": "test",
                }
            )
        )
        return path

    def connection(self, cluster: Mapping[str, object] | None = None, **user: object) -> Connection:
        """A production connection to this server, by ``kubeconfig``; close it."""
        return Connection.from_kubeconfig(self.kubeconfig(cluster, **user))

    async def accept(self) -> None:
        """Listens; after ``refuse`` on the same port, with the same objects."""
        application = web.Application(client_max_size=BODY_BYTES_MAX)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, shutdown_timeout=0, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True, ssl_context=self._tls)
        await site.start()
        assert isinstance(site._server, asyncio.Server)
        self._listening = site._server.sockets
        self.port = self._listening[0].getsockname()[1]

    async def refuse(self) -> None:
        """Closes every connection, and refuses new ones until ``accept``."""
        if self._runner is not None:
            self._is_closing = True
            # asyncio leaks a connection whose server closes between the accepting and the transport. What has not been
            # accepted is refused by the system.
            for listening in self._listening:
                asyncio.get_running_loop().remove_reader(listening.fileno())
            for _ in range(ACCEPTING_TURNS):
                await asyncio.sleep(0)
            for watch in list(self.watches):
                watch.end()
            await self._runner.cleanup()
            self._runner = None
            self._is_closing = False

    def put(self, kind: Kind, obj: Object) -> Object:
        """Writes an object as another client would, status included; creates it if it is not there."""
        metadata = obj["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        before = self.store.get(kind, key)
        if before is None:
            return self._writer.create(kind, key[0], obj)
        merged = {**before["metadata"], **{name: metadata[name] for name in metadata if name != "resourceVersion"}}
        head = {"apiVersion": kind.api_version, "kind": kind.kind}
        return self.store.write(kind, key, {**head, **obj, "metadata": merged})

    def remove(self, kind: Kind, name: str, namespace: str = "") -> None:
        """Removes an object at once, as a kubelet does at the end of a pod."""
        self.store.write(kind, (namespace, name), None)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        """The object as it is now."""
        return self.store.get(kind, (namespace, name))

    def all(self, kind: Kind) -> Sequence[Object]:
        """All objects of a kind, by namespace and name."""
        return self.store.all(kind)

    def seen(self, verb: str, plural: str = "") -> int:
        """How many requests of this verb came, for paths that hold ``plural``."""
        return sum(1 for found, path in self.requests if found == verb and plural in path)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits until something holds on the server; looks at each request, open watch and change."""
        while not holds():
            self._news.clear()
            await self._news.wait()

    async def watched(self, count: int = 1) -> None:
        """Waits until so many watches are open."""
        await self.until(lambda: len(self.watches) >= count)

    def _count_connection(self, request: web.Request) -> None:
        assert request.transport is not None
        self._peers.add(request.transport.get_extra_info("peername"))
        self.connections = len(self._peers)

    def _wake(self) -> None:
        self._news.set()
        for watch in self.watches:
            watch.wake()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        try:
            self._count_connection(request)
            found = target(request.url.raw_path)
            watches = request.query.get("watch") in ("1", "true")
            content = request.content_type
            named = verb(request.method, found, watches=watches, applies="apply-patch" in content)
            self.requests.append((named, request.path))
            self._news.set()
            if self.tokens is not None and request.headers.get("Authorization", "")[7:] not in self.tokens:
                raise RefusalError(401, "Unauthorized")
            fault = self.faults.take(named, found.kind.plural, found.subresource)
            if isinstance(fault, Delay):
                await fault.over.wait()
            elif isinstance(fault, Answer):
                return _faulty(fault)
            elif isinstance(fault, Drop) and not fault.carried_out:
                return _dropped(request)
            answer = await self._carry_out(named, found, request)
            return _dropped(request) if isinstance(fault, Drop) else answer
        except RefusalError as refused:
            return web.json_response(refused.status, status=refused.code)

    async def _carry_out(self, named: str, found: Target, request: web.Request) -> web.StreamResponse:
        if found.subresource and (found.subresource != "status" or found.kind.plural not in WITH_STATUS):
            raise RefusalError(404, "the server could not find the requested resource")
        if named == "watch":
            return await self._watch(found, request)
        if named == "list":
            return web.json_response(self._list(found, request))
        key = (found.namespace, found.name)
        if named == "get":
            return web.json_response(self._get(found))
        body = json.loads(await request.read() or b"{}")
        if named == "create":
            return web.json_response(self._writer.create(found.kind, found.namespace, body), status=201)
        if named == "update":
            written = self._writer.replace(found.kind, key, found.subresource, body)
        elif named == "delete":
            written = self._writer.delete(found.kind, key, body)
        elif named == "apply":
            manager = request.query.get("fieldManager")
            if not manager:
                raise RefusalError(422, "fieldManager: Required value: is required for apply patch")
            force = request.query.get("force") == "true"
            written = self._writer.apply(found.kind, key, found.subresource, body, manager, force)
        else:
            how = request.content_type.removeprefix("application/").removesuffix("+json")
            if how not in ("merge-patch", "json-patch", "strategic-merge-patch"):
                raise RefusalError(415, f"the body of the request was in an unknown format {request.content_type}")
            written = self._writer.patch(found.kind, key, found.subresource, how, body)
        return web.json_response(written)

    def _get(self, found: Target) -> Object:
        obj = self.store.get(found.kind, (found.namespace, found.name))
        if obj is None:
            raise RefusalError(404, f'{found.kind.resource} "{found.name}" not found')
        return obj

    def _matches(self, found: Target, request: web.Request) -> selector.Matches:
        by_label = selector.labels(request.query.get("labelSelector", ""))
        by_field = selector.fields(found.kind.plural, request.query.get("fieldSelector", ""))
        return lambda obj: by_label(obj) and by_field(obj)

    def _list(self, found: Target, request: web.Request) -> dict[str, Any]:
        limit = int(request.query.get("limit", "0"))
        if token := request.query.get("continue", ""):
            items, version = self.store.page(token)
        else:
            matches = self._matches(found, request)
            items, version = [obj for obj in self.store.all(found.kind) if matches(obj)], self.store.version
            if found.namespace:
                items = [obj for obj in items if obj["metadata"].get("namespace") == found.namespace]
        metadata: dict[str, Any] = {"resourceVersion": str(version)}
        if limit and len(items) > limit:
            items, rest = items[:limit], items[limit:]
            metadata |= {"continue": self.store.keep_page(rest, version), "remainingItemCount": len(rest)}
        bare = [{name: part for name, part in obj.items() if name not in ("apiVersion", "kind")} for obj in items]
        kind = found.kind
        return {"apiVersion": kind.api_version, "kind": f"{kind.kind}List", "metadata": metadata, "items": bare}

    async def _watch(self, found: Target, request: web.Request) -> web.StreamResponse:
        version = int(request.query["resourceVersion"])
        if self.expired_as_status:
            self.store.since(found.kind, version)
        watch = Watch(self.store, found.kind, found.namespace, self._matches(found, request), version)
        watch.silent = self.silent
        if self._is_closing:
            # A client that was quick to open the next watch: it would keep the server from closing for a minute.
            watch.end()
        self.watches.append(watch)
        self._news.set()
        try:
            return await watch.serve(request, float(request.query.get("timeoutSeconds", "3600")))
        except ConnectionError:
            # The client has gone.
            return web.Response()
        finally:
            self.watches.remove(watch)
            self._news.set()


def _faulty(fault: Answer) -> web.Response:
    if fault.body is not None:
        return web.Response(status=fault.code, body=fault.body, headers=fault.headers)
    return web.json_response(status(fault.code, fault.message, fault.reason), status=fault.code, headers=fault.headers)


def _dropped(request: web.Request) -> web.Response:
    assert isinstance(request.transport, asyncio.WriteTransport)
    request.transport.abort()
    return web.Response()
