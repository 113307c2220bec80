"""The HTTP port's own requests, with the kubelet's names and labels (pkg/kubelet/server/metrics, 1.36)."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from aiohttp import web

from probelet.base.exposition.histogram import Histogram

# Prometheus' default bounds, in seconds.
BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class HttpMetrics:
    """Counts requests by path. All paths that ``paths`` does not name share one, ``other``, to bound the series."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._requests: Counter[str] = Counter()
        self._inflight: Counter[str] = Counter()
        self._times = Histogram("kubelet_http_requests_duration_seconds", "How long HTTP requests took.", BOUNDS)

    @web.middleware
    async def count(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware: counts a request, how many are in flight, and how long each took."""
        labels = self._labels(request)
        self._requests[labels] += 1
        self._inflight[labels] += 1
        began = time.monotonic()
        try:
            return await handler(request)
        finally:
            self._inflight[labels] -= 1
            self._times.observe(time.monotonic() - began, labels)

    def render(self) -> bytes:
        """The series in the Prometheus text format."""
        lines = _head("kubelet_http_requests_total", "counter", "HTTP requests.")
        lines += [f"kubelet_http_requests_total{{{labels}}} {n}" for labels, n in sorted(self._requests.items())]
        lines += _head("kubelet_http_inflight_requests", "gauge", "HTTP requests that are being answered.")
        lines += [f"kubelet_http_inflight_requests{{{labels}}} {n}" for labels, n in sorted(self._inflight.items())]
        lines += self._times.render()
        return ("\n".join(lines) + "\n").encode()

    def _labels(self, request: web.Request) -> str:
        path = request.path.lstrip("/") if request.path in self._paths else "other"
        method = request.method if request.method in ("GET", "HEAD", "POST", "PUT", "DELETE") else "other"
        # No handler of this port waits for an event or changes state.
        return f'method="{method}",path="{path}",server_type="readonly",long_running="false"'


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
