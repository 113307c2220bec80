"""CRI messages over gRPC: the only module that uses the gRPC library.

Method paths and message types come from the descriptor of ``runtime.v1``, so no generated service stub is needed.
Client and runtime methods have the RPC's name in snake_case.
"""

import asyncio
import logging
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

# Set before the import: otherwise the C library writes to stderr on its own.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc  # type: ignore[import-untyped]
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from probelet.runtime.cri import errors
from probelet.runtime.cri.answers import Answers
from probelet.runtime.cri.v1 import api_pb2

MESSAGE_BYTES_MAX = 16 * 1024 * 1024
"""Largest message that either side accepts (kubelet cri-client remote_runtime.go:maxMsgSize, 1.36)."""

CHANNEL_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    # Reconnects soon after a runtime restarts (kubelet cri-client remote_runtime.go: baseBackoffDelay, maxBackoffDelay
    # and minConnectionTimeout, 1.36).
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 3_000),
    # The last of these limits the time to connect: a busy runtime is not a dead one.
    ("grpc.min_reconnect_backoff_ms", 5_000),
    # The connection to a unix socket must not use a proxy from the environment.
    ("grpc.enable_http_proxy", 0),
)

DETAIL_CHARS_MAX = 8 * 1024
"""How much of a runtime's error text is kept: events, the status and the log repeat it. A kubelet keeps what fits into
the headers of an answer, which grpc-go limits to 8 KiB too."""

LIMIT_SECONDS_MAX = 10 * 365 * 86_400
"""Longest deadline of a call: the gRPC library counts nanoseconds since 1970 in 64 bits, which end in 2262."""

SERVICES = tuple(api_pb2.DESCRIPTOR.services_by_name.values())
"""RuntimeService and ImageService: both are on one socket, and no RPC name occurs in both."""

METHODS = {method.name: method for service in SERVICES for method in service.methods}


def snake_case(rpc: str) -> str:
    """``RunPodSandbox`` -> ``run_pod_sandbox``."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", rpc).lower()


def go_code(code: Any) -> str:
    """The status code as Go prints it: ``NOT_FOUND`` -> ``NotFound``."""
    name = str(code.name)
    return "Canceled" if name == "CANCELLED" else "".join(word.capitalize() for word in name.split("_"))


STATUS_CODES = {go_code(code): code for code in grpc.StatusCode}


def translated(error: Any) -> errors.CriError:
    """Converts the gRPC library's error to ours."""
    kind = errors.BY_CODE.get(go_code(error.code()), errors.RuntimeRefused)
    return kind((error.details() or "")[:DETAIL_CHARS_MAX])


class Stream:
    """The messages of one open server-streaming call. It ends with ``StopAsyncIteration`` or a ``CriError``, also for a
    message that cannot be read."""

    def __init__(self, call: Any, read: Callable[[bytes], Message]) -> None:
        self._call = call
        self._read = read

    def __aiter__(self) -> AsyncIterator[Message]:
        return self

    async def __anext__(self) -> Message:
        try:
            data = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise translated(error) from None
        if data is grpc.aio.EOF:
            raise StopAsyncIteration
        return self._read(data)

    async def opened(self) -> None:
        """Waits for the server's headers. Raises ``CriError`` if the stream ends instead."""
        try:
            await self._call.initial_metadata()
            await self._call.wait_for_connection()
        except grpc.aio.AioRpcError as error:
            raise translated(error) from None

    def cancel(self) -> None:
        """Closes the stream from this side."""
        self._call.cancel()


class Channel:
    """One connection to a runtime's unix socket. Create and use it inside one event loop."""

    def __init__(self, socket: str) -> None:
        self._channel = grpc.aio.insecure_channel(f"unix:{socket}", options=CHANNEL_OPTIONS)
        self._calls: dict[str, Any] = {}
        self._answers = Answers(METHODS)

    def _multi_callable(self, rpc: str) -> Any:
        found = self._calls.get(rpc)
        if found is None:
            method = METHODS[rpc]
            make = self._channel.unary_stream if method.server_streaming else self._channel.unary_unary
            # Answers stay bytes here: for one that its deserializer refuses, the library returns None.
            found = self._calls[rpc] = make(
                f"/{method.containing_service.full_name}/{rpc}",
                request_serializer=GetMessageClass(method.input_type).SerializeToString,
            )
        return found

    async def call(self, rpc: str, request: Message, limit: float | None) -> Any:
        """Makes one unary call within ``limit`` seconds; None means no limit. Raises ``errors.CriError``."""
        bounded = None if limit is None else min(limit, LIMIT_SECONDS_MAX)
        try:
            data = await self._multi_callable(rpc)(request, timeout=bounded)
        except grpc.aio.AioRpcError as error:
            raise translated(error) from None
        except grpc.aio.UsageError as error:
            raise errors.RuntimeUnavailable(f"the client is closed: {error}") from None
        return self._answers.read(rpc, request, data)

    def stream(self, rpc: str, request: Message) -> Stream:
        """Opens a server-streaming call without a deadline; the request is sent when this returns."""
        return Stream(self._multi_callable(rpc)(request), partial(self._answers.read, rpc, request))

    async def close(self) -> None:
        """Cancels the calls in flight and closes the connection."""
        await self._channel.close()


class Server:
    """Serves an object on a unix socket; its async methods have the RPCs' names in snake_case.

    A method takes the request message and returns the response message. A streaming method returns an async generator,
    or another async iterator with ``aclose``; the stream counts as open once the method returns. To answer with an
    error, a method raises a ``CriError``. An RPC without a method is Unimplemented.
    """

    def __init__(self, runtime: object) -> None:
        self._server = grpc.aio.server(options=CHANNEL_OPTIONS)
        self._server.add_generic_rpc_handlers(
            tuple(
                grpc.method_handlers_generic_handler(service.full_name, _handlers(service, runtime))
                for service in SERVICES
            )
        )

    async def start(self, socket: str) -> None:
        """Listens on ``socket``. Raises OSError if the bind fails."""
        try:
            self._server.add_insecure_port(f"unix:{socket}")
        except RuntimeError as error:
            raise OSError(f"cannot listen on {socket}: {error}") from None
        await self._server.start()

    async def stop(self, grace: float) -> None:
        """Accepts no more calls, gives the calls in flight ``grace`` seconds, then cancels them."""
        await self._server.stop(grace)


def _handlers(service: Any, runtime: object) -> dict[str, Any]:
    handlers = {}
    for method in service.methods:
        implementation = getattr(runtime, snake_case(method.name), None)
        if implementation is not None:
            streams = method.server_streaming
            make = grpc.unary_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
            handlers[method.name] = make(
                _answering_stream(implementation) if streams else _answering(implementation),
                request_deserializer=GetMessageClass(method.input_type).FromString,
                response_serializer=GetMessageClass(method.output_type).SerializeToString,
            )
    return handlers


def _answering(implementation: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    async def answer(request: Message, context: Any) -> Any:
        try:
            return await implementation(request)
        except errors.CriError as error:
            await context.abort(STATUS_CODES[error.code], error.detail)

    return answer


def _answering_stream(implementation: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    async def answer(request: Message, context: Any) -> AsyncIterator[Any]:
        try:
            async with aclosing(await implementation(request)) as messages:
                # The headers confirm to the client that the stream misses no event from now on.
                await context.send_initial_metadata(())
                async for message in messages:
                    yield message
        except errors.CriError as error:
            await context.abort(STATUS_CODES[error.code], error.detail)

    return answer


class _NotCancelled(logging.Filter):
    """Drops a log record of the gRPC library: it reports a cancelled call as an unhandled exception."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


logging.getLogger("grpc._cython.cygrpc").addFilter(_NotCancelled())
