"""Turns a v1.PodStatus into the form that the engine reads, and back."""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import msgspec

from probelet.base.exposition.timestamp import unix_ms
from probelet.service.error import RequestError
from probelet.service.json_object import encode_object
from probelet.service.limit import CONTAINERS_MAX
from probelet.service.pod import too_long
from probelet.spec.rules.validate_probe import unsupported_value
from probelet.spec.text.problem import FieldError, shorten

PHASES: Final = ("Failed", "Pending", "Running", "Succeeded", "Unknown")

_LISTS: Final = (("containerStatuses", "containers"), ("initContainerStatuses", "init_containers"))
_WORDS: Final = {bool: "true or false", dict: "an object", int: "a number", list: "a list", str: "a text"}

INT32: Final = (-(2**31), 2**31 - 1)

T = TypeVar("T", bool, dict[str, Any], int, list[Any], str)


def engine_status(status: dict[str, Any]) -> bytes:
    """The status as ``Engine.set_pod_status`` takes it. Raises RequestError naming the field that is wrong."""
    phase = _get(status, "phase", "status", "") or "Pending"
    if phase not in PHASES:
        raise _refused(unsupported_value("status.phase", phase, PHASES))
    document: dict[str, Any] = {
        "phase": phase,
        "pod_ip": _pod_ip(status),
        "all_containers_restarting": _is_true(status, "AllContainersRestarting"),
    }
    for theirs, ours in _LISTS:
        document[ours] = [_container(row, path) for row, path in _rows(status, theirs)]
    return msgspec.json.encode(document)


def containers(status: dict[str, Any]) -> int:
    """The containers of a status that ``engine_status`` took."""
    return sum(len(_rows(status, theirs)) for theirs, _ in _LISTS)


def container_ids(status: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The ID of each container that has one, with the path of the field, of a status that ``engine_status`` took."""
    for theirs, _ in _LISTS:
        for row, path in _rows(status, theirs):
            if container_id := row.get("containerID"):
                yield f"{path}.containerID", container_id


def fill(status: dict[str, Any], filled: bytes) -> bytes:
    """The caller's status with ``started`` and ``ready`` from the prober; all other fields stay as they were."""
    document = msgspec.json.decode(filled)
    for theirs, ours in _LISTS:
        for row, found in zip(status.get(theirs) or (), document[ours], strict=True):
            row["ready"], row["started"] = found["ready"], found["started"]
    return encode_object(status, "status")


def _get(row: dict[str, Any], key: str, path: str, default: T) -> T:
    """A field of the default's type; the default if it is absent or null."""
    value, kind = row.get(key), type(default)
    if value is None:
        return default
    # A bool is an int in Python, and not in JSON.
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise _refused(FieldError(f"{path}.{key}", "Invalid value", _shown(value), f"must be {_WORDS[kind]}"))
    return value


def _rows(status: dict[str, Any], key: str) -> list[tuple[dict[str, Any], str]]:
    """The objects of a list, each with its path."""
    listed: list[Any] = []
    items = _get(status, key, "status", listed)
    if len(items) > CONTAINERS_MAX:
        detail = f"must have at most {CONTAINERS_MAX} items"
        raise _refused(FieldError(f"status.{key}", "Too many", len(items), detail))
    rows = [(row, f"status.{key}[{index}]") for index, row in enumerate(items)]
    for row, path in rows:
        if not isinstance(row, dict):
            raise _refused(FieldError(path, "Invalid value", _shown(row), f"must be {_WORDS[dict]}"))
    return rows


def _pod_ip(status: dict[str, Any]) -> str:
    ips = [_name(row, "ip", path) for row, path in _rows(status, "podIPs")]
    return ips[0] if ips else _name(status, "podIP", "status")


def _is_true(status: dict[str, Any], condition: str) -> bool:
    return any(row.get("type") == condition and row.get("status") == "True" for row, _ in _rows(status, "conditions"))


def _container(row: dict[str, Any], path: str) -> dict[str, Any]:
    if not (name := _name(row, "name", path)):
        raise _refused(FieldError(f"{path}.name", "Required value"))
    document: dict[str, Any] = {
        "name": name,
        "id": _name(row, "containerID", path),
        "ready": _get(row, "ready", path, False),
        "started": None if row.get("started") is None else _get(row, "started", path, False),
        "state": "waiting",
    }
    empty: dict[str, Any] = {}
    state, within = _get(row, "state", path, empty), f"{path}.state"
    if state.get("running") is not None:
        document["state"] = "running"
        if started := _get(_get(state, "running", within, empty), "startedAt", f"{within}.running", ""):
            document["started_at_ms"] = _unix_ms(started, f"{within}.running.startedAt")
    elif state.get("terminated") is not None:
        document["state"] = "terminated"
        document["exit_code"] = _int32(_get(state, "terminated", within, empty), "exitCode", f"{within}.terminated")
    return document


def _name(row: dict[str, Any], key: str, path: str) -> str:
    """A text that is kept."""
    text = _get(row, key, path, "")
    for mistake in too_long(f"{path}.{key}", text):
        raise _refused(mistake)
    return text


def _int32(row: dict[str, Any], key: str, path: str) -> int:
    number = _get(row, key, path, 0)
    if not INT32[0] <= number <= INT32[1]:
        detail = f"must be between {INT32[0]} and {INT32[1]}, inclusive"
        raise _refused(FieldError(f"{path}.{key}", "Invalid value", number, detail))
    return number


def _unix_ms(text: str, path: str) -> int:
    try:
        return unix_ms(text)
    except ValueError as error:
        raise _refused(FieldError(path, "Invalid value", text, "must be a time as RFC 3339 has it")) from error


def _shown(value: Any) -> Any:
    """A wrong value as a message repeats it. A list or an object can be too deep to be written."""
    if isinstance(value, str):
        return shorten(value)
    return value if not isinstance(value, list | dict) else f"{len(value)} items"


def _refused(mistake: FieldError) -> RequestError:
    return RequestError("INVALID_ARGUMENT", str(mistake.shortened()))
