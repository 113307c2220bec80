"""The one place where every answer of a runtime is checked before any other code reads it.

An answer that cannot be read is a failed call: ``errors.Internal``, as grpc-go has it. A field that cannot be read is
absent, and so is a listed sandbox or container that has no usable ID. The checks of single answers are those of kubelet
cri-client pkg/remote_runtime.go and utils.go, 1.36, reduced to the fields that probelet reads.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.cri.wire_format import ELEMENTS_MAX, Salvage, UnreadableError

USABLE_ID: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,255}")
"""Every known runtime has 64 hexadecimal digits or a UUID. An ID stands in logs, events and the status, so it has no
space, slash or control character."""

USABLE_NAME: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")
"""The runtime's name is the type in ``type://id``."""

VERSION_CHARS_MAX: Final = 256

LEAST_BYTES_OF_ELEMENT: Final = 2


class Answers:
    """Reads the answers of one runtime. ``methods`` are the descriptors of its RPCs, by name."""

    def __init__(self, methods: dict[str, Any]) -> None:
        self._methods = methods
        # The RPCs of which the log has said that parts of their answers cannot be read.
        self._said: set[str] = set()

    def read(self, rpc: str, request: Message, data: bytes) -> Any:
        """The answer to ``request``. Raises ``errors.Internal`` if it cannot be read or used."""
        answer, left_out = self._parsed(rpc, data)
        if rpc in _LISTS:
            answer, unusable = _with_usable_items(answer, _LISTS[rpc])
            left_out += unusable
        if left_out and rpc not in self._said:
            self._said.add(rpc)
            _warn("parts of the runtime's answer cannot be read and are left out", call=rpc, parts=left_out)
        if rpc in _PROBLEMS and (problem := _PROBLEMS[rpc](request, answer)):
            raise errors.Internal(problem)
        return answer

    def _parsed(self, rpc: str, data: bytes) -> tuple[Any, int]:
        """The message, and how many of its parts were left out."""
        output = self._methods[rpc].output_type
        kind, salvage = GetMessageClass(output), Salvage()
        try:
            if len(data) > ELEMENTS_MAX * LEAST_BYTES_OF_ELEMENT:
                data = salvage.readable(data, output)
            try:
                return kind.FromString(data), salvage.left_out
            except DecodeError:
                return kind.FromString(salvage.readable(data, output)), salvage.left_out
        except (DecodeError, UnreadableError) as error:
            raise errors.Internal(f"grpc: failed to unmarshal the received message: {error}") from None


def _warn(message: str, **keys: object) -> None:
    """Writes a warning to the log. The embedded runtime imports this module too, and needs no library for a log."""
    import structlog

    structlog.get_logger("probelet.cri").warning(message, **keys)


def _with_usable_items(answer: Any, items: str) -> tuple[Any, int]:
    """The answer without the items that have no usable ID, without every repetition of an ID; and their number."""
    seen: set[str] = set()
    usable = []
    for item in getattr(answer, items):
        if item.id not in seen and USABLE_ID.fullmatch(item.id):
            seen.add(item.id)
            usable.append(item)
    unusable = len(getattr(answer, items)) - len(usable)
    if not unusable:
        return answer, 0
    kept = type(answer)()
    kept.CopyFrom(answer)
    kept.ClearField(items)
    getattr(kept, items).extend(usable)
    return kept, unusable


_LISTS: Final = {
    "ListPodSandbox": "items",
    "ListContainers": "containers",
    "GetContainerEvents": "containers_statuses",
}
"""The repeated field of an answer whose items have IDs."""


def _version(_: Any, answer: api_pb2.VersionResponse) -> str:
    fields = {
        "Version": answer.version,
        "RuntimeName": answer.runtime_name,
        "RuntimeApiVersion": answer.runtime_api_version,
        "RuntimeVersion": answer.runtime_version,
    }
    if missing := [name for name, text in fields.items() if not text]:
        return f"not all fields are set in VersionResponse (missing {', '.join(missing)})"
    if len(answer.runtime_version) > VERSION_CHARS_MAX:
        return f"the runtime's version {answer.runtime_version[:64]!r}... cannot be used"
    if not USABLE_NAME.fullmatch(answer.runtime_name):
        return f"the runtime's name {answer.runtime_name[:64]!r} cannot be used"
    return ""


def _of_asked(asked: str, status: Any, is_set: bool) -> str:
    if not is_set or not status.id:
        return "status.Id is not set"
    return "" if status.id == asked else f"status.Id is {status.id!r}, and the status of {asked!r} was asked for"


def _new(what: str, id: str) -> str:
    if not id:
        return f"{what} is not set"
    return "" if USABLE_ID.fullmatch(id) else f"{what} {id[:64]!r} cannot be used"


def _event(_: Any, event: api_pb2.ContainerEventResponse) -> str:
    if not USABLE_ID.fullmatch(event.container_id):
        event.ClearField("container_id")
    if event.HasField("pod_sandbox_status") and not USABLE_ID.fullmatch(event.pod_sandbox_status.id):
        event.ClearField("pod_sandbox_status")
    return ""


_PROBLEMS: Final[dict[str, Callable[[Any, Any], str]]] = {
    "Version": _version,
    "RunPodSandbox": lambda _, answer: _new("PodSandboxId", answer.pod_sandbox_id),
    "CreateContainer": lambda _, answer: _new("ContainerId", answer.container_id),
    "PodSandboxStatus": lambda asked, answer: _of_asked(asked.pod_sandbox_id, answer.status, answer.HasField("status")),
    "ContainerStatus": lambda asked, answer: _of_asked(asked.container_id, answer.status, answer.HasField("status")),
    "GetContainerEvents": _event,
}
