"""The refusals of a server: counted by reason, and logged at most once a second for each reason."""

from collections import Counter
from typing import Any, Final, Literal

import structlog

from probelet.base.exposition.family import counter, page
from probelet.base.exposition.paced_log import PacedLog

Reason = Literal[
    "accept", "displaced", "connections", "handshake", "request_time", "answer_time", "size", "malformed", "host"
]

TEXTS: Final[dict[Reason, str]] = {
    "accept": "cannot accept connections",
    "displaced": "closed a connection without a request: too many connections",
    "connections": "refused a connection: too many connections",
    "handshake": "closed a connection: its TLS handshake failed",
    "request_time": "closed a connection: no request arrived in time",
    "answer_time": "closed a connection: its reader did not take the answer in time",
    "size": "closed a connection: its requests are too large",
    "malformed": "refused a malformed request",
    "host": "refused a request: its Host is not a name of this address",
}

log = structlog.get_logger("probelet.server")


class Refusals:
    """The refusals of one server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._counts: Counter[Reason] = Counter()
        self._lines = {reason: PacedLog(log.warning, text) for reason, text in TEXTS.items()}

    def record(self, reason: Reason, **fields: Any) -> None:
        """Counts a refusal; ``fields`` go to the log if it gets a line."""
        self._counts[reason] += 1
        self._lines[reason](server=self._server, **fields)

    def render(self) -> bytes:
        """The counts in the Prometheus text format."""
        counts = ((reason, self._counts[reason]) for reason in TEXTS)
        return page(
            counter("probelet_http_refused_total", "Connections and requests refused, by reason.", counts, "reason")
        )


class LibraryLog:
    """Stands in for the HTTP library's logger: a malformed request is a refusal, not a traceback."""

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals
        self._failed = PacedLog(log.error, "a request failed")

    def debug(self, *_: object, exc_info: object = None) -> None:
        """Gets the library's lines about single connections; with ``exc_info`` a request in no known protocol."""
        if exc_info is not None:
            self._refusals.record("malformed")

    def exception(self, *_: object, exc_info: BaseException | None = None) -> None:
        """A request that the library could not parse, or whose handler failed."""
        # The library answers what it cannot parse with the status of such an error.
        if getattr(exc_info, "code", None) is not None:
            self._refusals.record("malformed")
        else:
            self._failed(error=type(exc_info).__name__, exc_info=exc_info)

    def warning(self, text: str, *arguments: object) -> None:
        """A misuse of the library."""
        log.warning(text % arguments)
