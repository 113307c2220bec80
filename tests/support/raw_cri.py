"""Serves a runtime on a CRI socket, with answers that no protobuf library would write."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf.message_factory import GetMessageClass
from probelet.runtime.cri import errors
from probelet.runtime.cri.grpc_channel import METHODS, SERVICES, STATUS_CODES, snake_case

Lie = Callable[[str, Any, bytes], "bytes | Awaitable[bytes]"]
"""Gets the RPC's name, the request and the honest answer, and returns the answer that the client gets; or raises a
``CriError``."""


def honest(rpc: str, request: Any, answer: bytes) -> bytes:
    return answer


class RawServer:
    """``runtime`` has the methods of ``grpc_channel.Server``'s runtime; ``lie`` may be replaced while it serves."""

    def __init__(self, runtime: object, lie: Lie = honest) -> None:
        self.lie = lie
        self._runtime = runtime
        self._server = grpc.aio.server(options=(("grpc.max_send_message_length", 64 * 1024 * 1024),))
        for service in SERVICES:
            handlers = {rpc: self._handler(rpc) for rpc in METHODS if METHODS[rpc].containing_service is service}
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, handlers),))

    async def start(self, socket: Path) -> None:
        self._server.add_insecure_port(f"unix:{socket}")
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop(0)

    def _handler(self, rpc: str) -> Any:
        method = METHODS[rpc]
        request_of = GetMessageClass(method.input_type).FromString
        implementation = getattr(self._runtime, snake_case(rpc), None)

        async def told(request: Any, answer: bytes) -> bytes:
            found = self.lie(rpc, request, answer)
            return found if isinstance(found, bytes) else await found

        async def answer(data: bytes, context: Any) -> bytes:
            request = request_of(data)
            try:
                if implementation is None:
                    return await told(request, b"")
                return await told(request, (await implementation(request)).SerializeToString())
            except errors.CriError as error:
                await context.abort(STATUS_CODES[error.code], error.detail)
                raise AssertionError("abort raises") from None

        async def stream(data: bytes, context: Any) -> AsyncIterator[bytes]:
            request = request_of(data)
            try:
                if implementation is None:
                    raise errors.Unimplemented(rpc)
                messages = await implementation(request)
                await context.send_initial_metadata(())
                async for message in messages:
                    yield await told(request, message.SerializeToString())
            except errors.CriError as error:
                await context.abort(STATUS_CODES[error.code], error.detail)

        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(answer)
