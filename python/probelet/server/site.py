"""An HTTP application on a listening socket, within the limits of the acceptor."""

import ssl

from aiohttp import web

from probelet.server.acceptor import Acceptor, Room
from probelet.server.address import Listening
from probelet.server.answering import Answering
from probelet.server.limit import IDLE_SECONDS
from probelet.server.refusals import LibraryLog, Refusals

# Shutdown waits at most this long for a client that has stopped reading.
SHUTDOWN_SECONDS = 1.0


class Site:
    """Serves ``app`` on ``listening``, which it then owns; with ``tls`` over TLS. Start it inside a running event loop.

    The caller makes the socket, so that a taken port is an error before anything else has started.
    """

    def __init__(
        self,
        app: web.Application,
        listening: Listening,
        room: Room,
        refusals: Refusals,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._listening = listening
        self._room = room
        self._refusals = refusals
        self._tls = tls
        self._answering = Answering()
        app.middlewares.insert(0, self._answering.answer)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=SHUTDOWN_SECONDS,
            keepalive_timeout=IDLE_SECONDS,
            lingering_time=0,
            logger=LibraryLog(refusals),
        )
        self._acceptor: Acceptor | None = None

    async def start(self) -> None:
        """Accepts connections from now on."""
        await self._runner.setup()
        assert self._runner.server is not None, "setup makes the server"
        self._acceptor = Acceptor(self._listening.sock, self._room, self._runner.server, self._refusals, tls=self._tls)
        self._answering.acceptor = self._acceptor
        self._acceptor.start()

    def refuse(self) -> None:
        """Accepts no more connections."""
        if self._acceptor is not None:
            self._acceptor.close()
        self._listening.close()

    async def close(self) -> None:
        """Accepts no more, waits at most ``SHUTDOWN_SECONDS`` for answers to be taken, and closes all connections. Of a
        request that is still arriving nothing more is read."""
        self.refuse()
        await self._runner.cleanup()
        if self._acceptor is not None:
            self._acceptor.abort()
