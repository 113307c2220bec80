"""One accepted connection: passes the transport's calls on to the HTTP library, and keeps the time and the bytes."""

import asyncio
from collections.abc import Callable
from typing import cast

from probelet.server.limit import ANSWER_SECONDS, IDLE_SECONDS, REQUEST_BYTES_MAX, REQUEST_SECONDS
from probelet.server.refusals import Reason


class Connection(asyncio.Protocol):
    """``inner`` speaks HTTP. ``deadline`` is when the connection is closed unless it makes progress; None for an answer
    that ends when its reader leaves."""

    def __init__(
        self,
        inner: asyncio.Protocol,
        peer: str,
        now: Callable[[], float],
        left: Callable[["Connection"], None],
        *,
        request_bytes: int = REQUEST_BYTES_MAX,
    ) -> None:
        self.peer = peer
        """The address that counts as one peer."""
        self.since = now()
        """When the connection's present state began."""
        self.is_answering = False
        """True from the end of a request's head to the end of its answer."""
        self.deadline: float | None = self.since + REQUEST_SECONDS
        self.transport: asyncio.Transport | None = None
        self.too_large: Callable[[], None] = lambda: None
        """Called before a connection is closed whose requests are too large."""
        self.give_up: Callable[[], object] = lambda: None
        """Called to close a connection during its handshake."""
        self._inner = inner
        self._request_bytes = request_bytes
        self._now = now
        self._left = left
        self._bytes = 0
        self._is_idle = False
        self._aborted = False

    def answers(self, *, is_bounded: bool = True) -> None:
        """A request has arrived, and its answer begins."""
        self.is_answering, self._is_idle, self.since = True, False, self._now()
        self.deadline = self.since + ANSWER_SECONDS if is_bounded else None

    def answered(self) -> None:
        """The answer has been sent: the connection waits for another request."""
        self.is_answering, self._is_idle, self.since, self._bytes = False, True, self._now(), 0
        self.deadline = self.since + IDLE_SECONDS

    def why_late(self, now: float) -> Reason | None:
        """Why the connection is to be closed at ``now``, if its time is over."""
        if self.deadline is None or now < self.deadline:
            return None
        return "answer_time" if self.is_answering else "request_time"

    @property
    def is_quiet(self) -> bool:
        """True between two requests: closing such a connection is no refusal."""
        return self._is_idle

    def abort(self) -> None:
        """Closes at once, whatever the peer has not read."""
        self._aborted = True
        if self.transport is not None:
            self.transport.abort()
        else:
            self.give_up()

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        # A write then waits until the transport has passed everything on, so that closing has nothing left to send.
        # TLS pauses a writer at the limit, not above it (asyncio/sslproto.py:_control_app_writing): with 0 it would
        # pause one that has nothing left to send, and nothing would resume it.
        is_tls = transport.get_extra_info("sslcontext") is not None
        self.transport.set_write_buffer_limits(high=1 if is_tls else 0)
        self._inner.connection_made(transport)
        if self._aborted:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self._bytes += len(data)
        if self._bytes > self._request_bytes:
            self.too_large()
            self.abort()
            return
        if self._is_idle:
            self._is_idle, self.since = False, self._now()
            self.deadline = self.since + REQUEST_SECONDS
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        self._left(self)
        self._inner.connection_lost(error)
