"""The pages of a controller: its nodes for people and programs, incidents, health and metrics. They are read-only."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

import msgspec
from aiohttp import web

from probelet.server.acceptor import Room
from probelet.server.address import Listening
from probelet.server.document.nodes import NodesDocument
from probelet.server.limit import PAGES_CONNECTIONS_MAX
from probelet.server.pages import people
from probelet.server.pages.host_check import middlewares_for
from probelet.server.pages.people import document_response, sent_to_page
from probelet.server.pages.source import PageSource
from probelet.server.refusals import Refusals
from probelet.server.site import Site
from probelet.server.status import OneAtATime


class NodesView(PageSource, Protocol):
    """The controller's side; each method answers from memory."""

    def document(self, node: str) -> NodesDocument:
        """All nodes; of ``node`` alone with its probes if it is not empty."""


_VIEW = web.AppKey("view", NodesView)
_TURNS = web.AppKey("turns", OneAtATime)


async def _statusz(request: web.Request) -> web.Response:
    if (elsewhere := sent_to_page(request)) is not None:
        return elsewhere
    view, node = request.app[_VIEW], request.query.get("node", "")
    return document_response(await request.app[_TURNS].make(lambda: msgspec.json.encode(view.document(node))))


ROUTES: Final[Mapping[str, Callable[[web.Request], Awaitable[web.Response]]]] = {
    **people.ROUTES,
    "/statusz": _statusz,
}


class NodesServer:
    """Serves the pages on ``listening``, which it then owns. Start it inside a running event loop."""

    def __init__(self, view: NodesView, listening: Listening) -> None:
        refusals = Refusals("pages")
        app = web.Application(middlewares=middlewares_for(listening, refusals))
        app[_VIEW], app[_TURNS] = view, OneAtATime()
        people.show(app, view)
        app.add_routes([web.get(path, handler) for path, handler in ROUTES.items()])
        room = Room.of_pages(PAGES_CONNECTIONS_MAX, is_remote=listening.is_remote)
        self._site = Site(app, listening, room, refusals)

    async def start(self) -> None:
        """Answers from now on."""
        await self._site.start()

    async def close(self) -> None:
        """Ends all connections."""
        await self._site.close()
