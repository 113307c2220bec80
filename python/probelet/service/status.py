"""v1.PodStatus as JSON, and the form the engine reads."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

import msgspec

from probelet.service.error import RequestError

_LISTS: Final = (("containerStatuses", "containers"), ("initContainerStatuses", "init_containers"))


def decode_object(text: bytes, what: str) -> dict[str, Any]:
    """A JSON object. Raises RequestError for anything else."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise RequestError("INVALID_ARGUMENT", f"{what}: {error}") from error
    if not isinstance(value, dict):
        raise RequestError("INVALID_ARGUMENT", f"{what}: must be a JSON object")
    return value


def engine_status(status: dict[str, Any]) -> bytes:
    """The status as ``Engine.set_pod_status`` takes it. Raises RequestError naming the field that is wrong."""
    try:
        document: dict[str, Any] = {
            "phase": status.get("phase") or "Pending",
            "pod_ip": _pod_ip(status),
            "all_containers_restarting": _is_true(status, "AllContainersRestarting"),
        }
        for theirs, ours in _LISTS:
            document[ours] = [_container(row) for row in status.get(theirs) or ()]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RequestError("INVALID_ARGUMENT", f"status: {type(error).__name__}: {error}") from error
    return msgspec.json.encode(document)


def fill(status: dict[str, Any], filled: bytes) -> bytes:
    """The caller's status with ``started`` and ``ready`` as the prober filled them; all else as it was."""
    document = msgspec.json.decode(filled)
    for theirs, ours in _LISTS:
        for row, found in zip(status.get(theirs) or (), document[ours], strict=True):
            row["ready"], row["started"] = found["ready"], found["started"]
    return msgspec.json.encode(status)


def _pod_ip(status: dict[str, Any]) -> str:
    ips: Iterable[dict[str, str]] = status.get("podIPs") or ()
    return next((ip["ip"] for ip in ips), status.get("podIP") or "")


def _is_true(status: dict[str, Any], condition: str) -> bool:
    return any(c.get("type") == condition and c.get("status") == "True" for c in status.get("conditions") or ())


def _container(row: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": row["name"],
        "id": row.get("containerID") or "",
        "ready": bool(row.get("ready")),
        "started": row.get("started"),
        "state": "waiting",
    }
    state = row.get("state") or {}
    if (running := state.get("running")) is not None:
        document["state"] = "running"
        if started := running.get("startedAt"):
            document["started_at_ms"] = int(datetime.fromisoformat(started).timestamp() * 1000)
    elif (terminated := state.get("terminated")) is not None:
        document["state"] = "terminated"
        document["exit_code"] = terminated.get("exitCode", 0)
    return document
