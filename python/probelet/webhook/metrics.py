"""The webhook's own metrics."""

from collections import Counter
from typing import Final

from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.histogram import Histogram
from probelet.base.exposition.process_metrics import render_process

BOUNDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
"""Seconds. The budget is 5 ms, and an API server waits for at most a few seconds."""

REQUESTS: Final = "probelet_webhook_requests_total"
DURATION: Final = "probelet_webhook_request_duration_seconds"
NOT_AFTER: Final = "probelet_webhook_certificate_not_after_seconds"
LOADS: Final = "probelet_webhook_certificate_loads_total"
CA_PATCHES: Final = "probelet_webhook_ca_bundle_patches_total"
_NOT_AFTER_TEXT: Final = "The last second of the certificate in use, since the Unix epoch."


class WebhookMetrics:
    """Counts of one process. Handlers and their results are few, so the series are bounded."""

    def __init__(self) -> None:
        self.not_after: int | None = None
        """The last second of the certificate in use, since the Unix epoch; None before the first one."""
        self.loads = 0
        """Certificates taken into use."""
        self.failures = 0
        """Certificates that could not be read, made or stored."""
        self.ca_patches = 0
        """How often the configuration's caBundle was not the right one and was patched."""
        self._requests: Counter[tuple[str, str]] = Counter()
        self._times = Histogram(DURATION, "Time from the head of a request to its answer.", BOUNDS, "handler")

    def answered(self, handler: str, result: str, seconds: float) -> None:
        """Counts one request of the handler of that name."""
        self._requests[handler, result] += 1
        self._times.observe(seconds, handler)

    def render(self) -> bytes:
        """The page in the Prometheus text format."""
        not_after = () if self.not_after is None else gauge(NOT_AFTER, _NOT_AFTER_TEXT, self.not_after)
        loads = (("error", self.failures), ("loaded", self.loads))
        own = page(
            counter(
                REQUESTS,
                "Admission requests by handler and result.",
                sorted(self._requests.items()),
                "handler",
                "result",
            ),
            self._times.render(),
            not_after,
            counter(LOADS, "Certificates taken into use, or not usable.", loads, "result"),
            counter(CA_PATCHES, "Patches of a caBundle that was not the right one.", self.ca_patches),
        )
        return own + render_process()
