"""The HTTP pages: metrics, health and status. They are read-only: no request changes any state."""

import base64
import hashlib
import socket
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web

from probelet.server.pages.http_metrics import HttpMetrics
from probelet.server.pages.page import SCRIPT, STYLE, render_page
from probelet.server.view import View

# The type of the Prometheus text format, the same as on the kubelet's /metrics.
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Shutdown waits at most this long for a client that has stopped reading.
SHUTDOWN_SECONDS = 1.0

_VIEW = web.AppKey("view", View)
_REQUESTS = web.AppKey("requests", HttpMetrics)


def _source(inline: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


# The page shows texts that probed programs wrote. They are escaped; as a second defence the browser may run and
# load only the page's own two inline blocks.
_POLICY = f"default-src 'none'; connect-src 'self'; script-src {_source(SCRIPT)}; style-src {_source(STYLE)}"
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


async def _metrics(request: web.Request) -> web.Response:
    body = request.app[_VIEW].metrics() + request.app[_REQUESTS].render()
    return web.Response(body=body, headers={**_HEADERS, "Content-Type": METRICS_TYPE})


async def _metrics_pods(request: web.Request) -> web.Response:
    return web.Response(body=request.app[_VIEW].metrics_pods(), headers={**_HEADERS, "Content-Type": METRICS_TYPE})


async def _metrics_probes(request: web.Request) -> web.Response:
    return web.Response(body=request.app[_VIEW].metrics_probes(), headers={**_HEADERS, "Content-Type": METRICS_TYPE})


async def _healthz(_: web.Request) -> web.Response:
    """Alive: the event loop answers. The runtime does not count, since restarting probelet would not cure it."""
    return web.Response(text="ok\n", headers=_HEADERS)


async def _readyz(request: web.Request) -> web.Response:
    ready, why = request.app[_VIEW].ready()
    return web.Response(text="ok\n" if ready else f"{why}\n", status=200 if ready else 503, headers=_HEADERS)


async def _statusz(request: web.Request) -> web.Response:
    view = request.app[_VIEW]
    headers = {**_HEADERS, "Vary": "Accept"}
    # Browsers ask for text/html by name; curl and programs send */* or nothing and get the document.
    if "text/html" not in request.headers.get("Accept", ""):
        return web.Response(
            body=msgspec.json.encode(view.status()) + b"\n", content_type="application/json", headers=headers
        )
    page = render_page(view.status(), view.events(0))
    return web.Response(text=page, content_type="text/html", headers={**headers, "Content-Security-Policy": _POLICY})


async def _configz(request: web.Request) -> web.Response:
    body = msgspec.json.encode(request.app[_VIEW].configz()) + b"\n"
    return web.Response(body=body, content_type="application/json", headers=_HEADERS)


async def _root(_: web.Request) -> web.Response:
    raise web.HTTPFound("/statusz")


ROUTES: dict[str, Callable[[web.Request], Awaitable[web.Response]]] = {
    "/": _root,
    "/configz": _configz,
    "/healthz": _healthz,
    "/metrics": _metrics,
    "/metrics/pods": _metrics_pods,
    "/metrics/probes": _metrics_probes,
    "/readyz": _readyz,
    "/statusz": _statusz,
}


class HttpServer:
    """Serves the pages on ``sock``, which it then owns. Start it inside a running event loop.

    The caller makes the socket, so that a taken port is an error before anything else has started.
    """

    def __init__(self, view: View, sock: socket.socket) -> None:
        self._sock = sock
        requests = HttpMetrics(ROUTES)
        app = web.Application(middlewares=[requests.count])
        app[_VIEW] = view
        app[_REQUESTS] = requests
        app.add_routes([web.get(path, handler) for path, handler in ROUTES.items()])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS)

    async def start(self) -> None:
        await self._runner.setup()
        await web.SockSite(self._runner, self._sock).start()

    async def close(self) -> None:
        await self._runner.cleanup()
