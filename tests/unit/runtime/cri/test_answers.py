"""Each answer of a runtime is read in one place: what cannot be read is absent, or the call has failed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import structlog
from probelet.runtime.cri import RuntimeClient, errors, grpc_channel
from probelet.runtime.cri.exec import exec_attempt
from probelet.runtime.cri.v1 import api_pb2

from tests.support.raw_cri import RawServer

Told = Callable[[bytes], Awaitable[RuntimeClient]]


@pytest.fixture
async def told(socket_path: Path) -> AsyncIterator[Told]:
    """``await told(data)`` returns the client of a runtime that answers every call with these bytes."""
    open_now: list[Any] = []

    async def serve(data: bytes) -> RuntimeClient:
        server = RawServer(object(), lambda *_: data)
        await server.start(socket_path)
        client = RuntimeClient(f"unix://{socket_path}")
        open_now.extend((client.aclose, server.stop))
        return client

    yield serve
    for close in open_now:
        await close()


CALLS: dict[str, Callable[[RuntimeClient], Awaitable[object]]] = {
    "Version": lambda client: client.version(),
    "Status": lambda client: client.status(),
    "RunPodSandbox": lambda client: client.run_pod_sandbox(api_pb2.PodSandboxConfig()),
    "StopPodSandbox": lambda client: client.stop_pod_sandbox("s"),
    "RemovePodSandbox": lambda client: client.remove_pod_sandbox("s"),
    "PodSandboxStatus": lambda client: client.pod_sandbox_status("s"),
    "ListPodSandbox": lambda client: client.list_pod_sandbox(),
    "CreateContainer": lambda client: client.create_container(
        "s", api_pb2.ContainerConfig(), api_pb2.PodSandboxConfig()
    ),
    "StartContainer": lambda client: client.start_container("c"),
    "StopContainer": lambda client: client.stop_container("c", 1),
    "RemoveContainer": lambda client: client.remove_container("c"),
    "ListContainers": lambda client: client.list_containers(),
    "ContainerStatus": lambda client: client.container_status("c"),
    "ReopenContainerLog": lambda client: client.reopen_container_log("c"),
    "ExecSync": lambda client: client.exec_sync("c", ["true"], 1),
    "UpdateRuntimeConfig": lambda client: client.update_runtime_config(""),
    "RuntimeConfig": lambda client: client.runtime_config(),
    "ListImages": lambda client: client.list_images(),
    "ImageStatus": lambda client: client.image_status("i"),
    "PullImage": lambda client: client.pull_image("i", api_pb2.PodSandboxConfig()),
}


def test_the_calls_below_are_all_unary_calls_of_the_runtime() -> None:
    assert set(CALLS) == {rpc for rpc, method in grpc_channel.METHODS.items() if not method.server_streaming}


@pytest.mark.parametrize("rpc", CALLS)
async def test_an_answer_that_cannot_be_read_is_a_failed_call(rpc: str, told: Told) -> None:
    client = await told(b"\xff\xff\xff")
    with pytest.raises(errors.Internal, match=r"^rpc error: code = Internal desc = grpc: failed to unmarshal"):
        await CALLS[rpc](client)


async def test_an_exec_answer_that_cannot_be_read_is_a_prober_error(told: Told) -> None:
    outcome = await exec_attempt(await told(b"\x0b\x0b"), "c", ["true"], 1)
    assert (outcome.kind, outcome.output[:36]) == ("error", b"rpc error: code = Internal desc = gr")


async def test_an_event_that_cannot_be_read_ends_the_stream_with_an_error(socket_path: Path) -> None:
    class OneEvent:
        async def get_container_events(self, _: object) -> AsyncIterator[api_pb2.ContainerEventResponse]:
            async def events() -> AsyncIterator[api_pb2.ContainerEventResponse]:
                yield api_pb2.ContainerEventResponse()

            return events()

    server = RawServer(OneEvent(), lambda *_: b"\x22\x05no")
    await server.start(socket_path)
    async with RuntimeClient(f"unix://{socket_path}") as client:
        with pytest.raises(errors.Internal, match="failed to unmarshal"):
            await anext(client.container_events())
    await server.stop()


LISTED = api_pb2.ListContainersResponse
GOOD = api_pb2.Container(id="good", labels={"a": "b"})


@pytest.mark.parametrize(
    "id",
    ["", "/", "../../etc", "a/b", "a b", "a\nb", "\x1b[2J", "a\x00", "\u202eid", "-rf", ".", "d\u00e9", "a" * 257],
)
async def test_a_listed_container_without_a_usable_id_is_left_out(id: str, told: Told) -> None:
    client = await told(LISTED(containers=[GOOD, api_pb2.Container(id=id), GOOD, GOOD]).SerializeToString())
    assert await client.list_containers() == [GOOD]
    for call, what in (("RunPodSandbox", "PodSandboxId"), ("CreateContainer", "ContainerId")):
        answer = api_pb2.RunPodSandboxResponse(pod_sandbox_id=id).SerializeToString()
        with pytest.raises(errors.Internal, match=f"{what} .*(is not set|cannot be used)"):
            grpc_channel.Answers(grpc_channel.METHODS).read(call, api_pb2.RunPodSandboxRequest(), answer)


async def test_the_log_says_once_that_parts_of_an_answer_are_left_out(told: Told) -> None:
    bad = LISTED(containers=[GOOD, api_pb2.Container(id="QQ"), api_pb2.Container(id="c", labels={"x": "QQ"})])
    client = await told(bad.SerializeToString().replace(b"QQ", b"\xc3\x28"))
    with structlog.testing.capture_logs() as logged:
        for _ in range(3):
            assert [found.id for found in await client.list_containers()] == ["good", "c"]
    message = "parts of the runtime's answer cannot be read and are left out"
    # The ID, the label with its entry, and the container that has no ID.
    assert logged == [{"event": message, "call": "ListContainers", "parts": 4, "log_level": "warning"}]


STATUS = api_pb2.ContainerStatusResponse


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (STATUS(), "status.Id is not set"),
        (STATUS(status=api_pb2.ContainerStatus(state=api_pb2.CONTAINER_EXITED)), "status.Id is not set"),
        (
            STATUS(status=api_pb2.ContainerStatus(id="other")),
            "status.Id is 'other', and the status of 'c' was asked for",
        ),
    ],
)
async def test_a_status_of_another_or_no_container_is_a_failed_call(answer: STATUS, problem: str, told: Told) -> None:
    client = await told(answer.SerializeToString())
    for call in (client.container_status, client.pod_sandbox_status):
        with pytest.raises(errors.Internal) as caught:
            await call("c")
        assert caught.value.detail == problem


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"runtime_name": ""},
        {"runtime_name": "a://b"},
        {"runtime_name": "evil\n\x1b[2J"},
        {"runtime_name": "n" * 129},
        {"runtime_version": ""},
        {"runtime_version": "1" * 257},
        {"runtime_api_version": ""},
        {"version": ""},
    ],
)
async def test_a_version_of_nonsense_is_one_line(fields: dict[str, str], told: Told) -> None:
    whole = {"version": "0.9", "runtime_name": "r", "runtime_version": "1", "runtime_api_version": "v1"}
    client = await told(api_pb2.VersionResponse(**{**whole, **fields} if fields else {}).SerializeToString())
    with pytest.raises(errors.NotARuntime) as caught:
        await client.verify()
    line = str(caught.value)
    assert "no CRI v1 runtime answers: " in line
    assert line.isprintable()


async def test_the_missing_fields_of_a_version_have_the_kubelets_names(told: Told) -> None:
    client = await told(api_pb2.VersionResponse(runtime_name="r").SerializeToString())
    with pytest.raises(errors.Internal) as caught:
        await client.version()
    missing = "Version, RuntimeApiVersion, RuntimeVersion"
    assert caught.value.detail == f"not all fields are set in VersionResponse (missing {missing})"


async def test_an_answer_larger_than_a_kubelet_takes_is_a_failed_call(told: Told) -> None:
    client = await told(api_pb2.ExecSyncResponse(stdout=bytes(17 << 20)).SerializeToString())
    with pytest.raises(errors.ResourceExhausted):
        await client.exec_sync("c", ["true"], 1)


async def test_a_small_answer_of_many_messages_is_a_failed_call(told: Told) -> None:
    client = await told(b"\x0a\x00" * (1 << 20))
    with pytest.raises(errors.Internal, match="messages in one"):
        await client.list_containers()


async def test_a_long_error_is_cut(socket_path: Path) -> None:
    def refuse(*_: object) -> bytes:
        raise errors.RuntimeRefused("e" * 9_000)

    server = RawServer(object(), refuse)
    await server.start(socket_path)
    async with RuntimeClient(f"unix://{socket_path}") as client:
        with pytest.raises(errors.CriError) as caught:
            await client.version()
    assert len(caught.value.detail) <= grpc_channel.DETAIL_CHARS_MAX
    await server.stop()
