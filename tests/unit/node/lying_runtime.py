"""A scripted runtime that lies about one pod, ``liar``, on the wire; and the lies."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from google.protobuf.message_factory import GetMessageClass
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.grpc_channel import METHODS
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels

from tests.support.raw_cri import RawServer
from tests.unit.node.scripted_runtime import ScriptedRuntime

LIAR: Final = "uid-liar"
INT64_MAX: Final = 2**63 - 1
ESCAPES: Final = "\x1b[2J\r\n\x00\u202e"

Spoil = Callable[[Any, "LyingRuntime"], None]
"""Changes a message about the liar, or a list."""
Lie = Callable[["LyingRuntime", str, Any, bytes], Any]
"""Gets the RPC's name, the request and the honest answer; returns the bytes of the answer, or an awaitable of them."""


class LyingRuntime(ScriptedRuntime):
    """Every answer goes through ``lie``."""

    def __init__(self) -> None:
        super().__init__()
        self.lie: Lie = lambda _, __, ___, answer: answer
        self._raw: RawServer | None = None

    async def serve(self, directory: Path) -> RuntimeClient:
        socket = directory / "cri.sock"
        self._raw = RawServer(self, lambda rpc, request, answer: self.lie(self, rpc, request, answer))
        await self._raw.start(socket)
        return RuntimeClient(f"unix://{socket}")

    async def stop(self) -> None:
        if self._raw is not None:
            await self._raw.stop()
        await super().stop()

    def is_about_liar(self, request: Any, answer: bytes) -> bool:
        """Whether a call is about the liar's sandbox or a container of it."""
        sandbox = getattr(request, "pod_sandbox_id", "") or self.sandbox_of.get(
            getattr(request, "container_id", ""), ""
        )
        uid = self.uid_of.get(sandbox, "")
        return LIAR in (uid, request.config.metadata.uid if isinstance(request, api_pb2.RunPodSandboxRequest) else "")

    @property
    def uid_of(self) -> dict[str, str]:
        return {id: box.metadata.uid for id, box in self.sandboxes.items()}


# Kinds of lies.


def bytes_of(*rpcs: str) -> Callable[[Callable[[bytes], bytes]], Lie]:
    """The answers to these calls about the liar, as the given function changes their bytes."""

    def of(change: Callable[[bytes], bytes]) -> Lie:
        def lie(runtime: LyingRuntime, rpc: str, request: Any, answer: bytes) -> bytes:
            return change(answer) if rpc in rpcs and runtime.is_about_liar(request, answer) else answer

        return lie

    return of


def message_of(rpc: str, spoil: Spoil, *, of_all: bool = False) -> Lie:
    """The answers to this call about the liar, or about all pods, as ``spoil`` changes the message."""

    def lie(runtime: LyingRuntime, called: str, request: Any, answer: bytes) -> bytes:
        if called != rpc or not (of_all or runtime.is_about_liar(request, answer)):
            return answer
        message = GetMessageClass(METHODS[rpc].output_type).FromString(answer)
        spoil(message, runtime)
        data: bytes = message.SerializeToString()
        return data.replace(b"QQQQ", b"\xf0\x28\x8c\x28")

    return lie


def status(**fields: Any) -> Lie:
    """The status of the liar's containers with these fields."""

    def spoil(answer: api_pb2.ContainerStatusResponse, _: LyingRuntime) -> None:
        for name, value in fields.items():
            setattr(answer.status, name, value)

    return message_of("ContainerStatus", spoil)


def exited(**fields: Any) -> Lie:
    return status(state=api_pb2.CONTAINER_EXITED, exit_code=1, **fields)


def annotated(key: str, text: str) -> Lie:
    def spoil(answer: api_pb2.ContainerStatusResponse, _: LyingRuntime) -> None:
        answer.status.annotations[key] = text

    return message_of("ContainerStatus", spoil)


def sandbox(**fields: Any) -> Lie:
    """The status of the liar's sandboxes with these fields; ``ip`` and ``attempt`` are inside."""

    def spoil(answer: api_pb2.PodSandboxStatusResponse, _: LyingRuntime) -> None:
        for name, value in fields.items():
            of = {"ip": answer.status.network, "attempt": answer.status.metadata}.get(name, answer.status)
            setattr(of, name, value)

    return message_of("PodSandboxStatus", spoil)


def listed(rpc: str, change: Callable[[Any], list[Any]]) -> Lie:
    """Each row of the liar in a list becomes the rows that ``change`` makes of it."""

    def spoil(answer: Any, _: LyingRuntime) -> None:
        (field,) = answer.DESCRIPTOR.fields
        rows = getattr(answer, field.name)
        made = [new for row in rows for new in (change(row) if row.labels[labels.POD_UID] == LIAR else [row])]
        copies = [type(row).FromString(row.SerializeToString()) for row in made]
        del rows[:]
        rows.extend(copies)

    return message_of(rpc, spoil, of_all=True)


def with_fields(**fields: Any) -> Callable[[Any], list[Any]]:
    def change(row: Any) -> list[Any]:
        return [type(row)(**{**{d.name: v for d, v in row.ListFields()}, **fields})]

    return change


def foreign(rpc: str, rows: list[Any]) -> Lie:
    """A list that has rows of other users too."""

    def spoil(answer: Any, _: LyingRuntime) -> None:
        getattr(answer, answer.DESCRIPTOR.fields[0].name).extend(rows)

    return message_of(rpc, spoil, of_all=True)


def hanging(*rpcs: str) -> Lie:
    """These calls about the liar never end."""

    def lie(runtime: LyingRuntime, rpc: str, request: Any, answer: bytes) -> Any:
        return asyncio.Event().wait() if rpc in rpcs and runtime.is_about_liar(request, answer) else answer

    return lie


def refused(error: errors.CriError, *rpcs: str) -> Lie:
    def lie(runtime: LyingRuntime, rpc: str, request: Any, answer: bytes) -> bytes:
        if rpc in rpcs and runtime.is_about_liar(request, answer):
            raise error
        return answer

    return lie


def every_event(change: Callable[[bytes], bytes]) -> Lie:
    return lambda _, rpc, __, answer: change(answer) if rpc == "GetContainerEvents" else answer


def id_of_another(answer: Any, runtime: LyingRuntime) -> None:
    """The runtime gives the liar what belongs to its neighbour."""
    box = next(id for id, uid in runtime.uid_of.items() if uid != LIAR)
    if isinstance(answer, api_pb2.RunPodSandboxResponse):
        answer.pod_sandbox_id = box
    else:
        answer.container_id = next(id for id, of in runtime.sandbox_of.items() if of == box)


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


CONTAINER, SANDBOX, LIST = "ContainerStatus", "PodSandboxStatus", "ListContainers"
OTHERS = [
    api_pb2.PodSandbox(id=f"o{i}", metadata=api_pb2.PodSandboxMetadata(uid=f"other{i}"), state=api_pb2.SANDBOX_READY)
    for i in range(3_000)
]
CRUEL = [
    api_pb2.PodSandbox(id="tenant", metadata=api_pb2.PodSandboxMetadata(uid="t", name="QQQQ"), labels={"x": "QQQQ"}),
    api_pb2.PodSandbox(id="t2", labels={"QQQQ": ESCAPES, labels.POD_UID: ESCAPES * 100}),
    api_pb2.PodSandbox(id="QQQQ"),
    api_pb2.PodSandbox(id=ESCAPES),
    api_pb2.PodSandbox(id="t3", annotations={str(i): "" for i in range(20_000)}),
]
GROUPS, LONG_NUMBER = b"\x7b" * 300, b"\x18" + b"\xff" * 11

LIES: Final[dict[str, Lie]] = {
    # Answers that cannot be read.
    "half a status": bytes_of(CONTAINER)(cut),
    "half a sandbox": bytes_of(SANDBOX)(cut),
    "a status of other bytes": bytes_of(CONTAINER, SANDBOX)(lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "a status and 300 groups": bytes_of(CONTAINER, SANDBOX)(lambda data: data + GROUPS),
    "a status and a number of 11 bytes": bytes_of(CONTAINER)(lambda data: data + LONG_NUMBER),
    "a status and a field of the future": bytes_of(CONTAINER, SANDBOX)(lambda data: data + b"\xfa\x7f\x03abc"),
    "an empty status": bytes_of(CONTAINER, SANDBOX)(lambda _: b""),
    "no answer to a creation": bytes_of("CreateContainer")(cut),
    "no answer to a new sandbox": bytes_of("RunPodSandbox")(lambda _: b"\x0a\xff"),
    "no answer to an exec": bytes_of("ExecSync")(lambda _: b"\x0a\xff\xff\xff\xff\x0f"),
    "no answer to a start": bytes_of("StartContainer")(lambda _: b"\x07"),
    "a name that is not UTF-8": message_of(CONTAINER, lambda a, _: setattr(a.status.metadata, "name", "QQQQ")),
    "labels that are not UTF-8": message_of(CONTAINER, lambda a, _: a.status.labels.update({"QQQQ": "1", "x": "QQQQ"})),
    "no labels": message_of(CONTAINER, lambda a, _: a.status.ClearField("labels")),
    "no metadata": message_of(CONTAINER, lambda a, _: (a.status.ClearField("metadata"), a.status.labels.clear())),
    "no metadata of the sandbox": message_of(SANDBOX, lambda a, _: a.status.ClearField("metadata")),
    "no network": message_of(SANDBOX, lambda a, _: a.status.ClearField("network")),
    "half of every event": every_event(cut),
    "events of other bytes": every_event(lambda _: b"\xde\xad\xbe\xef"),
    "empty events": every_event(lambda _: b""),
    # Values that nobody expects.
    "a start at the end of time": status(started_at=INT64_MAX, created_at=INT64_MAX),
    "a start before all time": status(started_at=-INT64_MAX, created_at=-INT64_MAX),
    "a state of the future": status(state=2**31 - 1),
    "a state below all": status(state=-(2**31)),
    "a sandbox in a state of the future": sandbox(state=-7),
    "the largest attempt": sandbox(state=api_pb2.SANDBOX_NOTREADY, attempt=2**32 - 1),
    "never ready": sandbox(state=api_pb2.SANDBOX_NOTREADY),
    "an address of escapes": sandbox(ip=f"10.0.0.1{ESCAPES}"),
    "an address of the neighbour's host": sandbox(ip="0.0.0.0/0"),
    "a mere name for an address": sandbox(ip="metadata.google.internal"),
    "an exit of long ago": exited(finished_at=1, started_at=1),
    "an exit at the end of time": exited(finished_at=INT64_MAX),
    "an exit before all time": exited(finished_at=-INT64_MAX),
    "an exit after an age": exited(started_at=1, finished_at=10**18),
    "the least exit code": status(state=api_pb2.CONTAINER_EXITED, exit_code=-(2**31)),
    "a long reason": exited(reason="R" * 3_000_000, message=ESCAPES * 500_000),
    "a count of a million digits": annotated(labels.RESTART_COUNT, "8" * 1_000_000),
    "a count beyond 32 bits": annotated(labels.RESTART_COUNT, str(2**32)),
    "the largest count": annotated(labels.RESTART_COUNT, str(2**31 - 1)),
    "a count of nested brackets": annotated(labels.RESTART_COUNT, "[" * 500_000),
    "another definition": annotated(labels.HASH, "{" * 500_000),
    # Identities.
    "the status of another": message_of(CONTAINER, lambda a, _: setattr(a.status, "id", "another")),
    "an id of escapes": message_of("CreateContainer", lambda a, _: setattr(a, "container_id", ESCAPES)),
    "an id that leads elsewhere": message_of("CreateContainer", lambda a, _: setattr(a, "container_id", "../../x")),
    "an id of a megabyte": message_of("RunPodSandbox", lambda a, _: setattr(a, "pod_sandbox_id", "a" * 2**20)),
    "the neighbour's sandbox": message_of("RunPodSandbox", id_of_another),
    "the neighbour's container": message_of("CreateContainer", id_of_another),
    # Lists.
    "never listed": listed(LIST, lambda row: []),
    "a sandbox that is never listed": listed("ListPodSandbox", lambda row: []),
    "listed five times": listed(LIST, lambda row: [row] * 5),
    "listed in every state": listed(LIST, lambda row: [with_fields(state=state)(row)[0] for state in (3, 2, 0, 9, -1)]),
    "listed in another sandbox": listed(LIST, with_fields(pod_sandbox_id="nowhere")),
    "listed without labels": listed(LIST, with_fields(labels={})),
    "listed without an id": listed(LIST, with_fields(id="")),
    "listed with an id that is not UTF-8": listed(LIST, with_fields(id="QQQQ")),
    "listed with a label that is not UTF-8": listed("ListPodSandbox", with_fields(labels={"x": "QQQQ"})),
    "cruel tenants": foreign("ListPodSandbox", CRUEL),
    "thousands of tenants": foreign("ListPodSandbox", OTHERS),
    "tenants in every answer": foreign(LIST, [api_pb2.Container(id=f"c{i}") for i in range(50_000)]),
    # Late and wrong.
    "a status that hangs": hanging(CONTAINER),
    "a sandbox that hangs": hanging(SANDBOX),
    "a creation that hangs": hanging("CreateContainer"),
    "a start that hangs": hanging("StartContainer"),
    "an exec that hangs": hanging("ExecSync"),
    "a status that is refused with escapes": refused(errors.RuntimeRefused(ESCAPES * 100), CONTAINER),
    "a sandbox that is refused": refused(errors.PermissionDenied("no"), SANDBOX),
    "not found though it is listed": refused(errors.NotFound("no such container"), CONTAINER),
    "a start that lies": status(state=api_pb2.CONTAINER_CREATED),
    "an image with the least user": message_of(
        "ImageStatus", lambda a, _: a.image.uid.CopyFrom(api_pb2.Int64Value(value=-(2**63))), of_all=True
    ),
    "an image with a user of escapes": message_of(
        "ImageStatus", lambda a, _: setattr(a.image, "username", ESCAPES * 10_000), of_all=True
    ),
    "an image without an id": message_of("ImageStatus", lambda a, _: a.image.ClearField("id"), of_all=True),
}
