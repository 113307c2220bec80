"""The way of an answer to its reader: in pieces, because a reader that does not read must not hold a copy of it."""

from collections.abc import Awaitable, Callable, Collection

from aiohttp import web

from probelet.server.acceptor import Acceptor
from probelet.server.limit import PIECE_BYTES

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Answering:
    """Marks a connection while its request is answered. ``acceptor`` is set once the server has started. ``endless``
    are the paths whose answers may take for ever, with ``follow=1``."""

    def __init__(self, endless: Collection[str] = ()) -> None:
        self.acceptor: Acceptor | None = None
        self._endless = endless

    @web.middleware
    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware, the outermost one."""
        connection = self.acceptor.of(request.transport) if self.acceptor is not None else None
        if connection is None:
            # The peer has gone, or the server ends.
            raise web.HTTPServiceUnavailable
        connection.answers(is_bounded=request.path not in self._endless or request.query.get("follow") != "1")
        try:
            return await _sent(request, await handler(request))
        finally:
            connection.answered()


async def _sent(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Sends a long response before the library would, which would give it to the system in one piece."""
    if not isinstance(response, web.Response) or not isinstance(response.body, bytes):
        return response
    body = memoryview(response.body)
    if len(body) <= PIECE_BYTES or request.method == "HEAD":
        return response
    stream = web.StreamResponse(status=response.status, headers=response.headers)
    stream.content_length = len(body)
    try:
        await stream.prepare(request)
        for begin in range(0, len(body), PIECE_BYTES):
            await stream.write(body[begin : begin + PIECE_BYTES])
        await stream.write_eof()
    except ConnectionError:
        # The reader has left. The library finds that too, and logs nothing.
        stream.force_close()
    return stream
