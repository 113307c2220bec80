"""The connection to one API server: requests by kind, with errors of this package and a limit on everything."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Literal, Self, TypeVar

import httpx2
import msgspec

from probelet._rust import version
from probelet.kube.access.access import Access, found_access, in_cluster_access, kubeconfig_access
from probelet.kube.access.token_file import CredentialError
from probelet.kube.answer import WatchEvent, decode_event, decode_list, decode_object, read_body, read_lines
from probelet.kube.error import (
    Call,
    Expired,
    Garbage,
    KubeError,
    Unauthorized,
    Unreachable,
    error_of_answer,
    error_of_object,
)
from probelet.kube.kind import Kind

REQUEST_SECONDS: Final = 30.0
"""Limit of a whole request: the longest that a kube-apiserver's admission webhooks may take (timeoutSeconds)."""

PAGE: Final = 500
"""Objects in one page of a list, as client-go's pager and kubectl have it."""

PAGES_MAX: Final = 2_000
"""A million objects; a server whose list has no end must not fill the memory."""

PATCH_TYPES: Final = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
APPLY_TYPE: Final = "application/apply-patch+yaml"

PatchType = Literal["merge", "json", "strategic"]
Object = dict[str, Any]
T = TypeVar("T")

Observer = Callable[[Call, float, KubeError | None], None]
"""Gets each finished request with its seconds, and the error if it failed; of a watch, how it opened."""


class Listed(msgspec.Struct, Generic[T], frozen=True):
    """A collection at one version."""

    items: list[T]
    resource_version: str


class Connection:
    """Requests to one API server. Create it inside the event loop that uses it; an async context manager.

    Every method raises ``KubeError`` (its subclass for what went wrong) and no error of the HTTP library. Nothing is
    tried again here: the caller knows what else has happened meanwhile (``Pace``).
    """

    def __init__(self, access: Access, *, observer: Observer | None = None) -> None:
        self.server = access.server
        self.namespace = access.namespace
        """The namespace of the context or the service account."""
        self._client = access.client(f"probelet/{version()}")
        self._extensions = {"sni_hostname": access.server_name} if access.server_name else {}
        self._observer = observer

    @classmethod
    def from_kubeconfig(cls, path: Path, context: str = "", *, observer: Observer | None = None) -> Self:
        """A connection by a kubeconfig file, with its current context by default. Raises KubeConfigError."""
        return cls(kubeconfig_access((path,), context), observer=observer)

    @classmethod
    def in_cluster(cls, *, observer: Observer | None = None) -> Self:
        """A connection by the service account of this process's pod. Raises KubeConfigError outside a pod."""
        return cls(in_cluster_access(), observer=observer)

    @classmethod
    def found(cls, kubeconfig: Path | None = None, context: str = "", *, observer: Observer | None = None) -> Self:
        """The first of: the file ``kubeconfig``, ``$KUBECONFIG``, the service account in a pod, ``~/.kube/config``.

        Raises KubeConfigError if there is none, or the first one is wrong.
        """
        return cls(found_access(kubeconfig, context), observer=observer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes all sockets."""
        await self._client.aclose()

    @staticmethod
    def call(verb: str, kind: Kind, namespace: str, name: str = "", subresource: str = "") -> Call:
        """How errors and metrics name a request."""
        resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
        if kind.group:
            resource += f".{kind.group}"
        return Call(verb, resource, "/".join(part for part in (namespace, name) if part))

    async def get(self, kind: Kind, name: str, namespace: str = "") -> Object:
        """One object."""
        call = self.call("get", kind, namespace, name)
        return decode_object(call, await self._request(call, "GET", kind.path(namespace, name)))

    async def list(self, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> Listed[Object]:
        """All objects that the selectors match, of one namespace or of all."""
        return await self.list_as(kind, lambda found: found, namespace, labels=labels, fields=fields)

    async def list_as(
        self,
        kind: Kind,
        take: Callable[[Object], T],
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        limit: int = PAGE,
    ) -> Listed[T]:
        """Lists like ``list``, with ``take`` applied to each object as its page arrives, so that no more than ``limit``
        objects are in memory as dicts.

        If the server forgets the list's version between two pages, the list begins again without pages, as
        client-go's pager does; ``take`` then gets objects for a second time.
        """
        try:
            return await self._pages(kind, take, namespace, labels, fields, limit)
        except Expired:
            return await self._pages(kind, take, namespace, labels, fields, 0)

    async def version(self, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> str:
        """The newest version of a collection, by a list of at most one object."""
        call = self.call("list", kind, namespace)
        parameters = _selectors(labels, fields) | {"limit": "1"}
        page = decode_list(call, await self._request(call, "GET", kind.path(namespace), parameters))
        return page.metadata.resource_version

    async def create(self, kind: Kind, obj: Object) -> Object:
        """Creates ``obj`` in its namespace. Raises AlreadyExists."""
        namespace, name = _place(obj)
        call = self.call("create", kind, namespace, name)
        return decode_object(call, await self._request(call, "POST", kind.path(namespace), body=_full(kind, obj)))

    async def replace(self, kind: Kind, obj: Object, *, subresource: str = "") -> Object:
        """Replaces the object of that name. With ``metadata.resourceVersion``: Conflict if it has changed since."""
        namespace, name = _place(obj)
        call = self.call("update", kind, namespace, name, subresource)
        path = kind.path(namespace, name, subresource)
        return decode_object(call, await self._request(call, "PUT", path, body=_full(kind, obj)))

    async def patch(
        self,
        kind: Kind,
        name: str,
        namespace: str,
        body: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        type: PatchType,
        subresource: str = "",
    ) -> Object:
        """Patches an object: ``merge`` (RFC 7386), ``json`` (RFC 6902) or ``strategic``."""
        call = self.call("patch", kind, namespace, name, subresource)
        path = kind.path(namespace, name, subresource)
        answer = await self._request(call, "PATCH", path, body=body, content_type=PATCH_TYPES[type])
        return decode_object(call, answer)

    async def apply(
        self, kind: Kind, obj: Object, *, manager: str, subresource: str = "", force: bool = True
    ) -> Object:
        """Server-side apply: ``manager`` owns exactly the fields in ``obj``.

        ``metadata.uid`` in ``obj`` makes another object of the same name a Conflict. With ``force`` the fields are
        taken from other managers, otherwise that is a Conflict too. A status that does not exist is NotFound; other
        objects are created.
        """
        namespace, name = _place(obj)
        call = self.call("apply", kind, namespace, name, subresource)
        parameters = {"fieldManager": manager, "force": "true" if force else "false"}
        path = kind.path(namespace, name, subresource)
        body = _full(kind, obj)
        answer = await self._request(call, "PATCH", path, parameters, body=body, content_type=APPLY_TYPE)
        return decode_object(call, answer)

    async def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        grace_seconds: int | None = None,
    ) -> None:
        """Deletes an object. Conflict if ``uid`` or ``resource_version`` is given and is not the object's."""
        call = self.call("delete", kind, namespace, name)
        given = {"uid": uid, "resourceVersion": resource_version}
        preconditions = {field: value for field, value in given.items() if value}
        body: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if preconditions:
            body["preconditions"] = preconditions
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        await self._request(call, "DELETE", kind.path(namespace, name), body=body)

    @asynccontextmanager
    async def watch(
        self,
        kind: Kind,
        namespace: str = "",
        *,
        resource_version: str,
        labels: str = "",
        fields: str = "",
        timeout_seconds: int,
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        """The changes after ``resource_version``, with bookmarks, until the server ends the stream.

        The watch is open when the context begins. The iteration has no limit on silence: the caller has
        (``Reflector``). Raises Expired for a version that the server does not have, as a status or in the stream.
        """
        call = self.call("watch", kind, namespace)
        parameters = _selectors(labels, fields) | {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_seconds),
        }
        endless = httpx2.Timeout(REQUEST_SECONDS, read=None)
        request = self._client.build_request(
            "GET", kind.path(namespace), params=parameters, timeout=endless, extensions=self._extensions
        )
        with _translated(call):
            with self._observed(call), _translated(call):
                async with asyncio.timeout(REQUEST_SECONDS):
                    response = await self._client.send(request, stream=True)
                    if response.status_code != 200:
                        await _raise_refusal(call, response)
            try:
                async with aclosing(_events(call, response)) as events:
                    yield events
            finally:
                await response.aclose()

    async def _pages(
        self, kind: Kind, take: Callable[[Object], T], namespace: str, labels: str, fields: str, limit: int
    ) -> Listed[T]:
        call = self.call("list", kind, namespace)
        parameters = _selectors(labels, fields) | ({"limit": str(limit)} if limit else {})
        items: list[T] = []
        for _ in range(PAGES_MAX):
            page = decode_list(call, await self._request(call, "GET", kind.path(namespace), parameters))
            for found in page.items or ():
                # The objects of a list come without these two.
                found.setdefault("apiVersion", kind.api_version)
                found.setdefault("kind", kind.kind)
                items.append(take(found))
            if not page.metadata.continue_:
                return Listed(items, page.metadata.resource_version)
            parameters["continue"] = page.metadata.continue_
        raise Garbage(call, f"the list has more than {PAGES_MAX} pages")

    async def _request(
        self,
        call: Call,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None = None,
        *,
        body: object = None,
        content_type: str = "application/json",
    ) -> bytes:
        content = msgspec.json.encode(body) if body is not None else None
        headers = {"Content-Type": content_type} if body is not None else None
        request = self._client.build_request(
            method, path, params=parameters, content=content, headers=headers, extensions=self._extensions
        )
        with self._observed(call), _translated(call):
            async with asyncio.timeout(REQUEST_SECONDS):
                response = await self._client.send(request, stream=True)
                if not 200 <= response.status_code < 300:
                    await _raise_refusal(call, response)
                try:
                    return await read_body(call, response)
                finally:
                    await response.aclose()

    @contextmanager
    def _observed(self, call: Call) -> Iterator[None]:
        if self._observer is None:
            yield
            return
        begin = time.monotonic()
        try:
            yield
        except KubeError as error:
            self._observer(call, time.monotonic() - begin, error)
            raise
        self._observer(call, time.monotonic() - begin, None)


async def _events(call: Call, response: httpx2.Response) -> AsyncGenerator[WatchEvent, None]:
    with _translated(call):
        async with aclosing(read_lines(call, response)) as lines:
            async for line in lines:
                event = decode_event(call, line)
                if event.type == "ERROR":
                    raise error_of_object(call, event.object)
                yield event


async def _raise_refusal(call: Call, response: httpx2.Response) -> None:
    try:
        body = await read_body(call, response)
    finally:
        await response.aclose()
    raise error_of_answer(call, response.status_code, body, response.headers.get("Retry-After", ""))


@contextmanager
def _translated(call: Call) -> Iterator[None]:
    """Makes errors of the HTTP library those of this package."""
    try:
        yield
    except TimeoutError as error:
        raise Unreachable(call, f"no answer within {REQUEST_SECONDS:g} seconds") from error
    except httpx2.DecodingError as error:
        raise Garbage(call, f"the body cannot be decoded: {error}") from error
    except CredentialError as error:
        raise Unauthorized(call, str(error)) from error
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise Unreachable(call, str(error) or type(error).__name__) from error


def _place(obj: Object) -> tuple[str, str]:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata.get("name", "")


def _full(kind: Kind, obj: Object) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **obj}


def _selectors(labels: str, fields: str) -> dict[str, str]:
    return {key: value for key, value in (("labelSelector", labels), ("fieldSelector", fields)) if value}
