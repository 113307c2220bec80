"""The HTTP pages: metrics, health and status. They are read-only: no request changes any state."""

from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web

from probelet.server.acceptor import Room
from probelet.server.address import Listening
from probelet.server.limit import PAGES_CONNECTIONS_MAX
from probelet.server.pages import people
from probelet.server.pages.host_check import middlewares_for
from probelet.server.pages.http_metrics import HttpMetrics
from probelet.server.pages.people import HEADERS, document_response, sent_to_page
from probelet.server.pages.source import PodRows
from probelet.server.query import history_asked
from probelet.server.refusals import Refusals
from probelet.server.site import Site
from probelet.server.status import OneAtATime, StatusBuilds, status_json
from probelet.server.view import View

# The type of the Prometheus text format, the same as on the kubelet's /metrics.
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_VIEW = web.AppKey("view", View)
_REQUESTS = web.AppKey("requests", HttpMetrics)
_REFUSALS = web.AppKey("refusals", Refusals)
_TURNS = web.AppKey("turns", OneAtATime)
_JSON = web.AppKey("json", StatusBuilds)


async def _metrics(request: web.Request) -> web.Response:
    app = request.app
    view, requests, refusals = app[_VIEW], app[_REQUESTS], app[_REFUSALS]
    body = await app[_TURNS].make(lambda: view.metrics() + requests.render() + refusals.render())
    return web.Response(body=body, headers={**HEADERS, "Content-Type": METRICS_TYPE})


async def _metrics_pods(request: web.Request) -> web.Response:
    body = await request.app[_TURNS].make(request.app[_VIEW].metrics_pods)
    return web.Response(body=body, headers={**HEADERS, "Content-Type": METRICS_TYPE})


async def _metrics_probes(request: web.Request) -> web.Response:
    body = await request.app[_TURNS].make(request.app[_VIEW].metrics_probes)
    return web.Response(body=body, headers={**HEADERS, "Content-Type": METRICS_TYPE})


async def _readyz(request: web.Request) -> web.Response:
    ready, why = request.app[_VIEW].ready()
    return web.Response(text="ok\n" if ready else f"{why}\n", status=200 if ready else 503, headers=HEADERS)


async def _statusz(request: web.Request) -> web.Response:
    if (elsewhere := sent_to_page(request)) is not None:
        return elsewhere
    view, history, pod = request.app[_VIEW], history_asked(request), request.query.get("pod", "")
    if pod:
        return document_response(await status_json(view.status(history, pod)))
    return document_response(await request.app[_JSON].get(history))


async def _configz(request: web.Request) -> web.Response:
    body = msgspec.json.encode(request.app[_VIEW].configz()) + b"\n"
    return web.Response(body=body, content_type="application/json", headers=HEADERS)


ROUTES: dict[str, Callable[[web.Request], Awaitable[web.Response]]] = {
    **people.ROUTES,
    "/configz": _configz,
    "/metrics": _metrics,
    "/metrics/pods": _metrics_pods,
    "/metrics/probes": _metrics_probes,
    "/readyz": _readyz,
    "/statusz": _statusz,
}


class HttpServer:
    """Serves the pages on ``listening``, which it then owns. Start it inside a running event loop.

    The caller makes the socket, so that a taken port is an error before anything else has started.
    """

    def __init__(self, view: View, listening: Listening, connections: int = PAGES_CONNECTIONS_MAX) -> None:
        self._listening = listening
        self._refusals = Refusals("pages")
        room = Room.of_pages(connections, is_remote=listening.is_remote)
        self._site = Site(self._app(view), listening, room, self._refusals)

    def _app(self, view: View) -> web.Application:
        requests = HttpMetrics(ROUTES)
        app = web.Application(middlewares=[*middlewares_for(self._listening, self._refusals), requests.count])
        app[_VIEW] = view
        app[_REQUESTS] = requests
        app[_REFUSALS] = self._refusals
        app[_TURNS] = OneAtATime()
        app[_JSON] = StatusBuilds(view.status)
        people.show(app, PodRows(view))
        app.add_routes([web.get(path, handler) for path, handler in ROUTES.items()])
        return app

    async def start(self) -> None:
        await self._site.start()

    async def close(self) -> None:
        await self._site.close()
