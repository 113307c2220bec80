"""The routes of the pages of any service: for people the page and the data that it asks for, the incidents for
``probelet incidents --url``, and whether the service is alive."""

import base64
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec
from aiohttp import web

from probelet.server.pages.heartbeats import Heartbeats
from probelet.server.pages.page import PAGE
from probelet.server.pages.script import SCRIPT
from probelet.server.pages.source import PageSource
from probelet.server.pages.style import STYLE
from probelet.server.query import VERSION_MAX, number_asked

HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""The headers of every page."""

NO_INCIDENTS: Final = "incidents are not looked for here: 'incidents: false', or 'serve'"

_SOURCE = web.AppKey("source", PageSource)
_HEARTBEATS = web.AppKey("heartbeats", Heartbeats)


def _hash_of(inline: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


# The page shows texts that probed programs wrote, as text only. As a second defence the browser may run and load only
# the page's own two inline blocks.
_POLICY: Final = (
    f"default-src 'none'; connect-src 'self'; script-src {_hash_of(SCRIPT)}; style-src {_hash_of(STYLE)}; "
    "base-uri 'none'; form-action 'none'"
)


def show(app: web.Application, source: PageSource) -> None:
    """The application shows this source; its routes are the caller's to add."""
    app[_SOURCE], app[_HEARTBEATS] = source, Heartbeats(source)


async def _root(_: web.Request) -> web.Response:
    """The page for people; it asks for ``/heartbeats``."""
    return web.Response(text=PAGE, content_type="text/html", headers={**HEADERS, "Content-Security-Policy": _POLICY})


async def _heartbeats(request: web.Request) -> web.Response:
    body = await request.app[_HEARTBEATS].since(number_asked(request, "since", VERSION_MAX))
    return web.Response(body=body, content_type="application/json", headers=HEADERS)


async def _healthz(_: web.Request) -> web.Response:
    """Alive: the event loop answers. The runtime does not count, since restarting probelet would not cure it."""
    return web.Response(text="ok\n", headers=HEADERS)


async def _incidents(request: web.Request) -> web.Response:
    feed = request.app[_SOURCE].incidents
    if feed is None or not feed.is_on:
        return web.Response(status=409, text=f"{NO_INCIDENTS}\n", headers=HEADERS)
    body = msgspec.json.encode(feed.document()) + b"\n"
    return web.Response(body=body, content_type="application/json", headers=HEADERS)


def document_response(body: bytes) -> web.Response:
    """A JSON document for programs; ``sent_to_page`` says what a browser gets."""
    return web.Response(body=body + b"\n", content_type="application/json", headers={**HEADERS, "Vary": "Accept"})


def sent_to_page(request: web.Request) -> web.Response | None:
    """The way to the page for a browser that asks for a document without parameters; None for other readers."""
    # Browsers ask for text/html by name; curl and programs send */* or nothing and get the document.
    if "text/html" not in request.headers.get("Accept", "") or request.query:
        return None
    # A relative address also leads to the page behind a proxy that adds a path.
    return web.Response(status=302, headers={**HEADERS, "Vary": "Accept", "Location": "./"})


ROUTES: Final[Mapping[str, Callable[[web.Request], Awaitable[web.Response]]]] = {
    "/": _root,
    "/healthz": _healthz,
    "/heartbeats": _heartbeats,
    "/incidents": _incidents,
}
