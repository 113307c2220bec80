"""The service on its socket: gRPC behind a door that knows who knocks.

The gRPC library cannot say who its peer is, so the door accepts, asks the kernel, and passes bytes on to the library's
own socket, in a directory that only we can enter.
"""

import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc  # type: ignore[import-untyped]
from google.protobuf.message_factory import GetMessageClass

from probelet._rust import Engine
from probelet.cri.client import RuntimeClient
from probelet.cri.grpc_channel import snake_case
from probelet.service.error import RequestError
from probelet.service.limit import MESSAGE_BYTES_MAX
from probelet.service.prober import Prober
from probelet.service.uid_gate import Door
from probelet.service.v1 import prober_pb2

SERVICE: Final = prober_pb2.DESCRIPTOR.services_by_name["Prober"]

OPTIONS: Final = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    # One service owns a socket; a second one must fail instead of taking half of its callers.
    ("grpc.so_reuseport", 0),
)


@asynccontextmanager
async def prober_service(path: Path, engine: Engine, client: RuntimeClient | None = None) -> AsyncIterator[Prober]:
    """Serve an engine on the unix socket ``path`` until the context ends. The engine, without glue, and the client stay
    the caller's. Raises OSError when the socket cannot be had."""
    prober = Prober(engine, client)
    prober.watch()
    try:
        async with served(path, prober):
            yield prober
    finally:
        prober.close()


@asynccontextmanager
async def served(path: Path, prober: Prober) -> AsyncIterator[None]:
    """Serve the calls of a prober on the unix socket ``path`` until the context ends. Raises OSError when the socket
    cannot be had."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="probelet-serve-")))
        server = grpc.aio.server(options=OPTIONS)
        server.add_generic_rpc_handlers((_handlers(prober),))
        server.add_insecure_port(f"unix://{directory / 'grpc.sock'}")
        await server.start()
        stack.push_async_callback(server.stop, 0)
        await stack.enter_async_context(Door(path, directory / "grpc.sock"))
        yield


def _handlers(prober: Prober) -> Any:
    handlers = {}
    for method in SERVICE.methods:
        call = getattr(prober, snake_case(method.name))
        if method.client_streaming:
            make, behaviour = grpc.stream_stream_rpc_method_handler, _stream(call)
        elif method.server_streaming:
            make, behaviour = grpc.unary_stream_rpc_method_handler, _stream(call)
        else:
            make, behaviour = grpc.unary_unary_rpc_method_handler, _unary(call)
        handlers[method.name] = make(
            behaviour,
            request_deserializer=GetMessageClass(method.input_type).FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
    return grpc.method_handlers_generic_handler(SERVICE.full_name, handlers)


def _unary(call: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    async def behaviour(request: Any, context: Any) -> Any:
        try:
            return await call(request)
        except RequestError as error:
            await context.abort(grpc.StatusCode[error.code], str(error))

    return behaviour


def _stream(call: Callable[[Any], AsyncIterator[Any]]) -> Callable[[Any, Any], AsyncIterator[Any]]:
    async def behaviour(request: Any, context: Any) -> AsyncIterator[Any]:
        # So that a caller knows that it is heard before there is anything to say.
        await context.send_initial_metadata(())
        async for message in call(request):
            yield message

    return behaviour
