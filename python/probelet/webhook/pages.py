"""Health and metrics of the webhook or controller, on an address of their own and over TLS."""

import ssl
from collections.abc import Callable
from typing import Final

from aiohttp import web

from probelet.server.acceptor import Room
from probelet.server.address import Listening
from probelet.server.limit import PAGES_CONNECTIONS_MAX
from probelet.server.pages.server import METRICS_TYPE
from probelet.server.refusals import Refusals
from probelet.server.site import Site

_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class HealthPages:
    """``/healthz``, ``/readyz`` and ``/metrics``. ``why_not_ready`` returns a line, None if the server is ready."""

    def __init__(
        self,
        listening: Listening,
        tls: ssl.SSLContext,
        why_not_ready: Callable[[], str | None],
        metrics: Callable[[], bytes],
    ) -> None:
        self._why_not_ready = why_not_ready
        self._metrics = metrics
        self._refusals = Refusals("pages")
        app = web.Application()
        app.add_routes(
            [web.get("/healthz", self._healthz), web.get("/readyz", self._readyz), web.get("/metrics", self._page)]
        )
        room = Room.of_pages(PAGES_CONNECTIONS_MAX, is_remote=True)
        self._site = Site(app, listening, room, self._refusals, tls=tls)

    async def start(self) -> None:
        """Answers from now on."""
        await self._site.start()

    async def close(self) -> None:
        """Ends all connections."""
        await self._site.close()

    async def _healthz(self, _: web.Request) -> web.Response:
        """Alive: the event loop answers. A new process would not cure a lack of certificate or API server."""
        return web.Response(text="ok\n", headers=_HEADERS)

    async def _readyz(self, _: web.Request) -> web.Response:
        why = self._why_not_ready()
        return web.Response(text=f"{why or 'ok'}\n", status=200 if why is None else 503, headers=_HEADERS)

    async def _page(self, _: web.Request) -> web.Response:
        body = self._metrics() + self._refusals.render()
        return web.Response(body=body, headers={**_HEADERS, "Content-Type": METRICS_TYPE})
