"""Finds the fields of a pod that have no effect on the runtime that will run it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import msgspec

from probelet.spec.fields.container_fields import CONTAINER_ROWS, HOOK_ROWS, PROBE_ROWS
from probelet.spec.fields.pod_fields import POD_ROWS
from probelet.spec.fields.security_fields import SECURITY_ROWS
from probelet.spec.fields.support import Row, RuntimeKind
from probelet.spec.model.pod import Pod

ROWS: Final[tuple[Row, ...]] = (*POD_ROWS, *SECURITY_ROWS, *CONTAINER_ROWS, *HOOK_ROWS, *PROBE_ROWS)

BY_PATH: Final[Mapping[str, Row]] = {row.path: row for row in ROWS}


FAMILIES: Final = {
    "spec.containers[]": "container",
    "spec.initContainers[]": "container",
    "container.livenessProbe": "probe",
    "container.readinessProbe": "probe",
    "container.startupProbe": "probe",
    "container.lifecycle.postStart": "hook",
    "container.lifecycle.preStop": "hook",
}
"""The parts of a pod that have rows of their own, by the path at which they stand."""

LABELS_MAX: Final = 12
"""Kinds of fields that a summary names; it is one line."""

_PLACE: Final = re.compile(r"^(spec\.(containers|initContainers)\[\d+\]|spec|metadata)\.|\[.*?\]")
_GROUPS: Final = ("securityContext", "resources", "annotations")


class Ignored(msgspec.Struct, frozen=True):
    """A field that is set and has no effect."""

    field: str
    reason: str


def ignored_fields(pod: Pod, runtime: RuntimeKind) -> list[Ignored]:
    """The fields of a defaulted pod that have no effect on this kind of runtime, in the order of the model."""
    parts = (("metadata.annotations", pod.metadata.annotations), ("spec", pod.spec))
    found = [item for path, value in parts for item in _within(value, path, path, runtime)]
    # On the host's network a container's port is the host's.
    return [item for item in found if not (pod.spec.host_network and item.field.endswith(".hostPort"))]


def _within(value: Any, path: str, field: str, runtime: RuntimeKind) -> Iterator[Ignored]:
    """``path`` is the place in the table, ``field`` the place in this pod."""
    match value:
        case msgspec.Struct():
            for attribute, name, default in _members(type(value)):
                inner = getattr(value, attribute)
                if not _is_absent(inner, default):
                    yield from _member(inner, f"{path}.{name}", f"{field}.{name}", runtime)
        case list():
            for index, item in enumerate(value):
                yield from _member(item, f"{path}[]", f"{field}[{index}]", runtime)
        case dict():
            for key, item in value.items():
                yield from _member(item, _entry(path, key), f"{field}[{key}]", runtime)


@cache
def _members(cls: type[msgspec.Struct]) -> list[tuple[str, str, Any]]:
    """The fields of a type: attribute, name in a manifest, default."""
    return [(field.name, field.encode_name, field.default) for field in msgspec.structs.fields(cls)]


def _member(value: Any, path: str, field: str, runtime: RuntimeKind) -> Iterator[Ignored]:
    path = FAMILIES.get(path, path)
    row = BY_PATH.get(path)
    verdict = row.on(runtime) if row is not None else None
    if verdict is None or verdict.kind == "works":
        yield from _within(value, path, field, runtime)
    elif verdict.kind == "ignored" and value not in verdict.same_as_absent:
        yield Ignored(field, verdict.why)


def _entry(path: str, key: str) -> str:
    """The row of a map's entry: that of its key, else of the longest beginning that has one."""
    if f"{path}[{key}]" in BY_PATH:
        return f"{path}[{key}]"
    begins = (f"{path}[{key[:length]}*]" for length in _lengths(path) if length <= len(key))
    return next((found for found in begins if found in BY_PATH), f"{path}[]")


@cache
def _lengths(path: str) -> list[int]:
    """The lengths of the beginnings that the table has for the keys of this map, the longest first."""
    head = f"{path}["
    begins = (row.path for row in ROWS if row.path.startswith(head) and row.path.endswith("*]"))
    return sorted({len(begin) - len(head) - 2 for begin in begins}, reverse=True)


def _is_absent(value: Any, default: Any) -> bool:
    """Whether the manifest says nothing here: False of a field that may be absent is a value."""
    if value is None or value == default or value in ("", {}, []):
        return True
    return isinstance(value, msgspec.Struct) and value == type(value)()


def summary(pods: Iterable[Iterable[Ignored]], runtime: RuntimeKind) -> str | None:
    """One line about these pods: how many of them have each kind of field that is ignored; None if none has any."""
    having = [{_label(found.field) for found in pod} for pod in pods]
    having = [labels for labels in having if labels]
    if not having:
        return None
    counts = Counter(label for labels in having for label in labels)
    named = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    texts = [f"{label} ({count})" for label, count in named[:LABELS_MAX]]
    if (more := len(named) - LABELS_MAX) > 0:
        texts.append(f"{more} more")
    many = "1 pod" if len(having) == 1 else f"{len(having)} pods"
    where = "the embedded runtime" if runtime == "process" else "this runtime"
    return f"{many}: ignored on {where}: {', '.join(texts)}; 'probelet status -o json' lists each"


def _label(field: str) -> str:
    """A field without its place: ``spec.containers[0].env[1].valueFrom`` is ``env.valueFrom``."""
    label = _PLACE.sub("", field)
    group = next((name for name in _GROUPS if label.startswith(name)), None)
    return group or label
