"""The webhook's server: reviews by path, over TLS."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

import structlog
from aiohttp import web

from probelet.base.exposition.paced_log import PacedLog
from probelet.server.acceptor import Room
from probelet.server.address import Listening
from probelet.server.refusals import Refusals
from probelet.server.site import Site
from probelet.webhook.handler import AsyncHandler, Handler
from probelet.webhook.large_bodies import DisplacedError, LargeBodies
from probelet.webhook.limit import (
    ANSWERS_SECONDS,
    BODY_BYTES_MAX,
    CONNECTIONS_MAX,
    LARGE_BODIES_BYTES_MAX,
    LARGE_BODY_BYTES,
    PEER_CONNECTIONS_MAX,
    REQUEST_BYTES_MAX,
)
from probelet.webhook.metrics import WebhookMetrics
from probelet.webhook.review import (
    AdmissionRequest,
    AdmissionResponse,
    Refusal,
    ReviewError,
    decode_review,
    encode_review,
)

log = structlog.get_logger("probelet.webhook")

ROOM = Room(CONNECTIONS_MAX, PEER_CONNECTIONS_MAX, REQUEST_BYTES_MAX)


class AdmissionServer:
    """Serves ``handlers`` by path on ``listening``, which it then owns. Start it inside a running event loop."""

    def __init__(
        self,
        handlers: Mapping[str, Handler | AsyncHandler],
        listening: Listening,
        tls: ssl.SSLContext,
        metrics: WebhookMetrics,
    ) -> None:
        self.refusals = Refusals("webhook")
        """Connections and requests that never reached a handler."""
        self._metrics = metrics
        self._large = LargeBodies(LARGE_BODIES_BYTES_MAX, BODY_BYTES_MAX)
        self._is_draining = False
        self._requests = 0
        self._nothing_in_flight = asyncio.Event()
        self._nothing_in_flight.set()
        self._said = PacedLog(log.info, "answered a pod that asks for the takeover")
        self._failed = PacedLog(log.error, "a handler failed")
        app = web.Application(client_max_size=BODY_BYTES_MAX)
        app.add_routes([web.post(path, self._route(path, handler)) for path, handler in handlers.items()])
        self._site = Site(app, listening, ROOM, self.refusals, tls=tls)

    async def start(self) -> None:
        """Answers from now on."""
        await self._site.start()

    def drain(self) -> None:
        """From now on each answer ends its connection, so that the API server opens its next one to another replica."""
        self._is_draining = True

    async def close(self) -> None:
        """Accepts no more, and waits at most ``ANSWERS_SECONDS`` for requests that have begun to arrive."""
        self._site.refuse()
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWERS_SECONDS):
                await self._nothing_in_flight.wait()
        await self._site.close()

    def _route(self, path: str, handler: Handler | AsyncHandler) -> Callable[[web.Request], Awaitable[web.Response]]:
        name = path.lstrip("/")

        async def answer(request: web.Request) -> web.Response:
            begin = time.monotonic()
            with self._in_flight():
                response, result = await self._answered(request, name, handler)
            self._metrics.answered(name, result, time.monotonic() - begin)
            if self._is_draining:
                response.force_close()
            return response

        return answer

    @contextmanager
    def _in_flight(self) -> Iterator[None]:
        self._requests += 1
        self._nothing_in_flight.clear()
        try:
            yield
        finally:
            self._requests -= 1
            if not self._requests:
                self._nothing_in_flight.set()

    async def _answered(
        self, request: web.Request, name: str, handler: Handler | AsyncHandler
    ) -> tuple[web.Response, str]:
        if request.content_type != "application/json":
            return web.Response(status=415, text="Content-Type must be application/json\n"), "malformed"
        try:
            review = decode_review(await self._body(request))
        except ReviewError as error:
            return web.Response(status=400, text=f"{error}\n"), "malformed"
        except OSError:
            # The client has closed the connection in the middle of the body: nobody reads the answer.
            return web.Response(status=400, text="the review did not arrive whole\n"), "malformed"
        except DisplacedError as error:
            response = web.Response(status=503, text=f"{error}\n")
            # The rest of the body is not read.
            response.force_close()
            return response, "displaced"
        except web.HTTPRequestEntityTooLarge:
            return web.Response(status=413, text=f"a review has at most {BODY_BYTES_MAX} bytes\n"), "malformed"
        try:
            found = handler(review)
            answer = found if isinstance(found, AdmissionResponse | Refusal) else await found
        except Exception as error:
            self._failed(handler=name, error=type(error).__name__, exc_info=error)
            return web.Response(status=500, text="the handler failed; the log of the webhook says why\n"), "error"
        self._log(name, review, answer)
        body = encode_review(review.uid, answer)
        return web.Response(body=body, content_type="application/json"), answer.result

    async def _body(self, request: web.Request) -> bytes:
        length = request.content_length
        if length is not None and length <= LARGE_BODY_BYTES:
            return await request.read()
        return await self._large.read(request.content)

    def _log(self, handler: str, review: AdmissionRequest, answer: AdmissionResponse | Refusal) -> None:
        """Logs an answer: each at level debug, and at most one a second that a person should know."""
        fields = {"handler": handler, "namespace": review.namespace, "name": review.name, "result": answer.result}
        log.debug("answered", uid=review.uid, dry_run=bool(review.dry_run), **fields)
        if isinstance(answer, Refusal):
            self._said(**fields, message=answer.message)
        elif answer.warnings:
            self._said(**fields, warning=answer.warnings[0])
