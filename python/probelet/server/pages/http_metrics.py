"""The HTTP port's own requests, with the kubelet's names and labels (pkg/kubelet/server/metrics, 1.36)."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from aiohttp import web

from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.histogram import Histogram

# Prometheus' default bounds, in seconds.
BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_LABELS: Final = ("method", "path", "server_type", "long_running")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class HttpMetrics:
    """Counts requests by path. All paths that ``paths`` does not name share one, ``other``, to bound the series."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._requests: Counter[tuple[str, ...]] = Counter()
        self._inflight: Counter[tuple[str, ...]] = Counter()
        self._times = Histogram(
            "kubelet_http_requests_duration_seconds", "How long HTTP requests took.", BOUNDS, *_LABELS
        )

    @web.middleware
    async def count(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: counts a request, how many are in flight, and how long each took."""
        values = self._values(request)
        self._requests[values] += 1
        self._inflight[values] += 1
        began = time.monotonic()
        try:
            return await handler(request)
        finally:
            self._inflight[values] -= 1
            self._times.observe(time.monotonic() - began, *values)

    def render(self) -> bytes:
        """The series in the Prometheus text format."""
        requests, inflight = sorted(self._requests.items()), sorted(self._inflight.items())
        return page(
            counter("kubelet_http_requests_total", "HTTP requests.", requests, *_LABELS),
            gauge("kubelet_http_inflight_requests", "HTTP requests that are being answered.", inflight, *_LABELS),
            self._times.render(),
        )

    def _values(self, request: web.Request) -> tuple[str, ...]:
        path = request.path.lstrip("/") if request.path in self._paths else "other"
        method = request.method if request.method in ("GET", "HEAD", "POST", "PUT", "DELETE") else "other"
        # No handler of this port waits for an event or changes state.
        return method, path, "readonly", "false"
