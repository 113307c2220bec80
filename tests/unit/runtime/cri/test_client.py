"""The client against runtimes that answer, refuse or hang, and against other servers."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from probelet.runtime.cri import RuntimeClient, errors, grpc_channel
from probelet.runtime.cri.exec import ExecOutcome, exec_attempt
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.runtime.cri.conftest import Connect


class Refusing:
    """A runtime that answers Version with one error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def version(self, request: api_pb2.VersionRequest) -> api_pb2.VersionResponse:
        raise self._error


@pytest.mark.parametrize("kind", errors.BY_CODE.values(), ids=errors.BY_CODE)
async def test_every_status_code_arrives_as_its_own_error(kind: type[errors.CriError], connect: Connect) -> None:
    client = await connect(Refusing(kind("said by the runtime")))
    with pytest.raises(kind) as caught:
        await client.version()
    assert str(caught.value) == f"rpc error: code = {kind.code} desc = said by the runtime"


async def test_a_bug_in_the_runtime_is_a_refusal(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    client = await connect(Refusing(ZeroDivisionError("oops")))
    with pytest.raises(errors.RuntimeRefused, match="oops"):
        await client.version()


async def test_an_rpc_the_runtime_lacks_is_unimplemented(connect: Connect) -> None:
    client = await connect(object())
    with pytest.raises(errors.Unimplemented):
        await client.runtime_config()
    with pytest.raises(errors.Unimplemented):
        await anext(client.container_events())
    with pytest.raises(errors.Unimplemented):
        await client.container_events().opened()


class Silent:
    """A runtime whose ExecSync never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.hung_up = asyncio.Event()

    async def exec_sync(self, request: api_pb2.ExecSyncRequest) -> api_pb2.ExecSyncResponse:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.hung_up.set()
        return api_pb2.ExecSyncResponse()


async def test_the_clients_own_deadline_ends_an_exec_as_a_timeout(connect: Connect) -> None:
    client = await connect(Silent())
    outcome = await exec_attempt(client, "id", ["cat", "/ok"], 1, deadline=0.05)
    assert outcome == ExecOutcome("timeout", -1, b'command timed out: "cat /ok" timed out after 1s')


class Stopping:
    """A runtime that records the grace period of the last StopContainer."""

    def __init__(self) -> None:
        self.grace = 0

    async def stop_container(self, request: api_pb2.StopContainerRequest) -> api_pb2.StopContainerResponse:
        self.grace = request.timeout
        return api_pb2.StopContainerResponse()


async def test_a_grace_longer_than_any_clock_arrives_as_it_is(connect: Connect) -> None:
    runtime = Stopping()
    client = await connect(runtime)
    await client.stop_container("id", 2**63 - 1)
    assert runtime.grace == 2**63 - 1


async def test_a_cancelled_call_is_cancelled_at_the_runtime_too(connect: Connect) -> None:
    runtime = Silent()
    client = await connect(runtime)
    call = asyncio.ensure_future(client.exec_sync("id", ["true"], 1))
    await runtime.asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await runtime.hung_up.wait()


async def test_an_exec_the_runtime_refuses_is_an_error(connect: Connect) -> None:
    client = await connect(object())
    outcome = await exec_attempt(client, "id", ["true"], 1)
    assert (outcome.kind, outcome.exit_code) == ("error", -1)
    assert outcome.output.startswith(b"rpc error: code = Unimplemented desc = ")


async def test_calls_after_closing_say_that_the_client_is_closed(connect: Connect) -> None:
    client = await connect(object())
    await client.aclose()
    with pytest.raises(errors.RuntimeUnavailable, match="closed"):
        await client.version()


async def test_the_observer_sees_each_call_with_its_end(connect: Connect, socket_path: Path) -> None:
    await connect(Refusing(errors.NotFound("no")))
    seen: list[tuple[str, str]] = []

    def observer(operation: str, seconds: float, error: errors.CriError | None) -> None:
        assert seconds > 0
        seen.append((operation, error.code if error else "OK"))

    async with RuntimeClient(f"unix://{socket_path}", observer=observer) as client:
        with pytest.raises(errors.NotFound):
            await client.version()
        with pytest.raises(errors.Unimplemented):
            await client.run_pod_sandbox(api_pb2.PodSandboxConfig())
    assert seen == [("version", "NotFound"), ("run_pod_sandbox", "Unimplemented")]


class Talking:
    """A runtime that sends events when the test allows it, then ends with an error."""

    def __init__(self) -> None:
        self.talk = asyncio.Event()

    async def get_container_events(
        self, request: api_pb2.GetEventsRequest
    ) -> AsyncIterator[api_pb2.ContainerEventResponse]:
        return self._events()

    async def _events(self) -> AsyncIterator[api_pb2.ContainerEventResponse]:
        await self.talk.wait()
        for container_id in ("a", "b"):
            yield api_pb2.ContainerEventResponse(container_id=container_id)
        raise errors.ResourceExhausted("list again")


async def test_events_arrive_until_the_stream_breaks(connect: Connect) -> None:
    runtime = Talking()
    events = (await connect(runtime)).container_events()
    await events.opened()
    runtime.talk.set()
    assert [(await anext(events)).container_id for _ in range(2)] == ["a", "b"]
    with pytest.raises(errors.ResourceExhausted, match="list again"):
        await anext(events)


SANDBOX = api_pb2.PodSandboxConfig()
CALLS: list[tuple[str, Callable[[RuntimeClient], Awaitable[object]], float | None]] = [
    ("Version", lambda client: client.version(), 120),
    ("RunPodSandbox", lambda client: client.run_pod_sandbox(SANDBOX), 240),
    ("StopContainer", lambda client: client.stop_container("id", 30), 150),
    ("ExecSync", lambda client: client.exec_sync("id", ["true"], 7), 127),
    ("ExecSync", lambda client: client.exec_sync("id", ["true"], 0), None),
    ("ExecSync", lambda client: client.exec_sync("id", ["true"], 7, deadline=9), 9),
    ("GetContainerEvents", lambda client: anext(client.container_events()), None),
]


@pytest.mark.parametrize(("rpc", "call", "seconds"), CALLS)
async def test_deadlines_are_the_kubelets(
    rpc: str, call: Callable[[RuntimeClient], Awaitable[object]], seconds: float | None, socket_path: Path
) -> None:
    """Only the gRPC library's own server can read the client's deadline."""
    seen: list[float | None] = []

    async def answer(request: bytes, context: Any) -> None:
        seen.append(context.time_remaining())
        await context.abort(grpc.StatusCode.ABORTED, "seen enough")

    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("runtime.v1.RuntimeService", {rpc: handler}),)
    )
    server.add_insecure_port(f"unix:{socket_path}")
    await server.start()
    async with RuntimeClient(f"unix://{socket_path}") as client:
        with pytest.raises(errors.Aborted):
            await call(client)
    await server.stop(0)
    remaining = seen[0]
    if seconds is None:
        # The server sees a missing deadline as a very late one.
        assert remaining is None or remaining > 1e6
    else:
        # The header rounds the deadline up to a second.
        assert remaining == pytest.approx(seconds, abs=1.5)


@pytest.mark.parametrize(
    "endpoint", ["/run/c.sock", "unix://run/c.sock", "tcp://127.0.0.1:1", "unix:///"[:-1], "unix:/run/c.sock", ""]
)
def test_an_endpoint_that_is_no_socket_path_is_refused(endpoint: str) -> None:
    with pytest.raises(ValueError, match="must be unix:// and an absolute path"):
        RuntimeClient(endpoint)


async def verified(path: Path) -> str:
    async with RuntimeClient(f"unix://{path}") as client:
        with pytest.raises(errors.NotARuntime) as caught:
            await client.verify()
    return str(caught.value).removeprefix(f"runtime endpoint unix://{path}: ")


async def test_a_missing_endpoint_is_one_line(socket_path: Path) -> None:
    assert await verified(socket_path) == "No such file or directory"


async def test_a_file_is_not_a_socket() -> None:
    assert await verified(Path(__file__)) == "is not a socket"


async def test_a_grpc_server_without_the_cri_is_one_line(connect: Connect, socket_path: Path) -> None:
    await connect(object())
    assert await verified(socket_path) == "speaks gRPC but not CRI v1 (runtime.v1.RuntimeService)"


async def test_another_protocol_on_the_socket_is_one_line(socket_path: Path) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_unix_server(greet, socket_path):
        line = await verified(socket_path)
    assert line.startswith("no CRI v1 runtime answers: ")
    assert "\n" not in line


async def test_a_socket_without_a_listener_is_one_line(socket_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as abandoned:
        abandoned.bind(str(socket_path))
    line = await verified(socket_path)
    assert line.startswith("no CRI v1 runtime answers: ")
    assert "onnection refused" in line


async def test_a_socket_that_never_answers_is_one_line(socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.runtime.cri.client.VERIFY_TIMEOUT_SECONDS", 0.05)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_path))
        listening.listen()
        assert await verified(socket_path) == "no answer within 0.05 s"


@pytest.mark.parametrize(
    ("rpc", "name"),
    [("ExecSync", "exec_sync"), ("RunPodSandbox", "run_pod_sandbox"), ("Version", "version")],
)
def test_methods_carry_the_rpcs_names_in_snake_case(rpc: str, name: str) -> None:
    assert grpc_channel.snake_case(rpc) == name
