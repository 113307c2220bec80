"""What the server shows: one read-only look at the service, asked anew for each request."""

from typing import Any, Protocol


class View(Protocol):
    """Every method is called on the event loop's thread and answers from memory, without waiting for anything."""

    def status(self) -> dict[str, Any]:
        """The status document, schema ``probelet-status/1``."""

    def configz(self) -> dict[str, Any]:
        """The effective configuration, schema ``probelet-config/1``."""

    def events(self, since: int) -> list[dict[str, Any]]:
        """The events kept with ``seq > since``, oldest first.

        Each is a ``probelet-event/1`` object with one more key, ``seq``, which only ever increases.
        It is the reader's place in the stream, not a part of the event, and is not printed.
        """

    def metrics(self) -> bytes:
        """The page ``/metrics`` in the Prometheus text format."""

    def metrics_pods(self) -> bytes:
        """The page ``/metrics/pods``: series with the names of pods and containers."""

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes`` in the Prometheus text format."""

    def ready(self) -> tuple[bool, str]:
        """Whether the service does its job, and in a few words why not (empty when it does)."""
