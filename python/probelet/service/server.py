"""The service on its socket: gRPC behind a gate that knows the caller's user.

The gRPC library cannot say which user its peer is. So the gate accepts connections, asks the kernel for the user, and
passes bytes on to the library's own socket, in a directory that only this user can enter.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from probelet.base.files.private_directory import private_directory
from probelet.host.engine_host import EngineHost
from probelet.runtime.cri.grpc_channel import snake_case
from probelet.runtime.host import RuntimeHost
from probelet.service.error import RequestError
from probelet.service.handed_over_pods import HandedOverPods
from probelet.service.limit import CALLS_MAX, CONNECTIONS_MAX, HANDSHAKE_SECONDS, MESSAGE_BYTES_MAX, NODE_CALLS_MAX
from probelet.service.rules import KUBELETS, Rules
from probelet.service.uid_gate import UidGate
from probelet.service.v1 import prober_pb2

SERVICE: Final = prober_pb2.DESCRIPTOR.services_by_name["Prober"]

ALIAS: Final = "probeletapi.v1.Prober"
"""The same service by a name whose Python stubs (`probeletapi/v1/prober_pb2.py`) a client can have beside this package:
Python would look for stubs of `probelet/v1` within it, and they would be other messages of the same names."""

OPTIONS: Final = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    # One service owns a socket; a second service must fail instead of taking half of the callers.
    ("grpc.so_reuseport", 0),
    ("grpc.max_concurrent_streams", CALLS_MAX),
    ("grpc.server_handshake_timeout_ms", int(HANDSHAKE_SECONDS * 1000)),
)


@asynccontextmanager
async def prober_service(
    path: Path, host: EngineHost, connections: int = CONNECTIONS_MAX, rules: Rules = KUBELETS
) -> AsyncIterator[HandedOverPods]:
    """Serves the engine of a host on the unix socket ``path`` until the context ends. Raises OSError or
    SocketPathError if it cannot listen there.

    ``rules`` are the node's options for the pods of callers. Exec probes go to the runtime of a ``RuntimeHost``; with
    any other host the caller carries them out. The caller of this function closes the host, whose engine has no glue.
    """
    pods = HandedOverPods(host.engine, host.execs if isinstance(host, RuntimeHost) else None, rules=rules)
    host.batches.watch(pods)
    try:
        async with served(path, pods, connections):
            yield pods
    finally:
        host.batches.close()


@asynccontextmanager
async def served(path: Path, pods: HandedOverPods, connections: int = CONNECTIONS_MAX) -> AsyncIterator[None]:
    """Serves the calls on the unix socket ``path`` until the context ends. Raises OSError or
    SocketPathError if it cannot listen there."""
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(private_directory("probelet-serve-"))
        server = grpc.aio.server(options=OPTIONS, maximum_concurrent_rpcs=NODE_CALLS_MAX)
        handlers = _handlers(pods)
        names = (SERVICE.full_name, ALIAS)
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(name, handlers) for name in names])
        server.add_insecure_port(f"unix://{directory / 'grpc.sock'}")
        await server.start()
        stack.push_async_callback(server.stop, 0)
        await stack.enter_async_context(UidGate(path, directory / "grpc.sock", connections))
        yield


def _handlers(pods: HandedOverPods) -> dict[str, Any]:
    handlers: dict[str, Any] = {}
    for method in SERVICE.methods:
        call = getattr(pods, snake_case(method.name))
        kind = GetMessageClass(method.input_type)
        if method.client_streaming:
            make, behaviour = grpc.stream_stream_rpc_method_handler, _stream(_reading(call, kind))
        elif method.server_streaming:
            make, behaviour = grpc.unary_stream_rpc_method_handler, _stream(_parsing(call, kind))
        else:
            make, behaviour = grpc.unary_unary_rpc_method_handler, _unary(_parsing(call, kind))
        # The library's own deserializing answers a request that cannot be read with UNKNOWN, and logs a traceback.
        handlers[method.name] = make(
            behaviour, request_deserializer=None, response_serializer=lambda message: message.SerializeToString()
        )
    return handlers


def _parsed(kind: Any, request: bytes) -> Any:
    try:
        return kind.FromString(request)
    except DecodeError as error:
        raise RequestError("INVALID_ARGUMENT", f"not a {kind.DESCRIPTOR.full_name}: {error}") from error


def _parsing(call: Callable[[Any], Any], kind: Any) -> Callable[[bytes], Any]:
    """The call for a request that is bytes."""
    return lambda request: call(_parsed(kind, request))


def _reading(call: Callable[[Any], Any], kind: Any) -> Callable[[Any], Any]:
    """The call for requests that are a stream of bytes."""

    async def requests(stream: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        async for request in stream:
            yield _parsed(kind, request)

    return lambda stream: call(requests(stream))


def _unary(call: Callable[[bytes], Any]) -> Callable[[bytes, Any], Any]:
    async def behaviour(request: bytes, context: Any) -> Any:
        try:
            return await call(request)
        except RequestError as error:
            await context.abort(grpc.StatusCode[error.code], error.details)

    return behaviour


def _stream(call: Callable[[Any], AsyncIterator[Any]]) -> Callable[[Any, Any], AsyncIterator[Any]]:
    async def behaviour(request: Any, context: Any) -> AsyncIterator[Any]:
        # The headers tell the caller that nothing is missed from now on.
        await context.send_initial_metadata(())
        try:
            async with aclosing(call(request)) as messages:  # type: ignore[type-var]
                async for message in messages:
                    yield message
        except RequestError as error:
            await context.abort(grpc.StatusCode[error.code], error.details)

    return behaviour
