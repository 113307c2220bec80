"""Reads a ConfigMap or a Secret of a manifest (core ``ValidateConfigMap``, ``ValidateSecret``, 1.36).

The general decoder quotes values in its messages; this one never does. It does not check which keys a Secret of a
``type`` needs: without an API server nothing reads a Secret by its type.
"""

import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from msgspec.structs import replace

from probelet.spec.model.meta import Object, ObjectMeta, Opaque
from probelet.spec.objects.config_object import ConfigObject, Kind
from probelet.spec.read.decode import decode_node
from probelet.spec.read.tree import Member, Node, locate
from probelet.spec.rules.names import Rule, config_key, dns1123_label, dns1123_subdomain
from probelet.spec.text.problem import FieldError, ObjectName, Problem

CONFIG_KINDS: Final = ("ConfigMap", "Secret")

REDACTED: Final = "<contents redacted>"

DATA_BYTES_MAX: Final = 1024 * 1024
"""The values of one object (core ``MaxSecretSize``, 1.36)."""


class _Head(Object, frozen=True, kw_only=True):
    """The fields that both kinds have. The values are read apart."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    immutable: bool | None = None
    """No field may change afterwards. A file that changes counts as another object of the same name."""
    data: Opaque = None


class _ConfigMap(_Head, frozen=True, kw_only=True):
    """Non-confidential data."""

    binary_data: Opaque = None


class _Secret(_Head, frozen=True, kw_only=True):
    """Confidential data."""

    type: str = ""
    string_data: Opaque = None


_HEADS: Final[dict[str, type[_Head]]] = {"ConfigMap": _ConfigMap, "Secret": _Secret}
_FIELDS: Final = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}
_BASE64: Final = {("ConfigMap", "binaryData"), ("Secret", "data")}


def read_object(root: Node, kind: str, prefix: str, path: Path, problems: list[Problem]) -> Iterator[ConfigObject]:
    """Yields the object at ``root``, a mapping of a kind in ``CONFIG_KINDS``, unless it has a mistake; appends each."""
    found: list[Problem] = []
    head = decode_node(root, _HEADS[kind], path, found, prefix)
    values: dict[str, dict[str, bytes]] = {}
    errors = _names(head.metadata)
    for field in _FIELDS[kind]:
        values[field] = {}
        errors += _values(root, field, values[field], encoded=(kind, field) in _BASE64)
    first, second = values.values()
    if kind == "ConfigMap":
        both = sorted(first.keys() & second.keys())
        detail = "duplicate of key present in binaryData"
        errors += [FieldError(f"data[{key}]", "Invalid value", key, detail) for key in both]
        data, size = first, _size(first) + _size(second)
    else:
        data = {**first, **second}
        size = _size(data)
    if size > DATA_BYTES_MAX:
        errors.append(FieldError("data", "Too long", detail=f"may not be more than {DATA_BYTES_MAX} bytes"))
    for error in errors:
        field = f"{prefix}.{error.path}".removeprefix(".")
        found.append(Problem("error", error.shortened().body, path, locate(root, error.path), field))
    name = ObjectName(kind, head.metadata.namespace, head.metadata.name)
    problems += sorted((replace(problem, object=name) for problem in found), key=lambda problem: problem.line)
    if not any(problem.severity == "error" for problem in found):
        namespace = head.metadata.namespace or "default"
        yield ConfigObject(cast("Kind", kind), namespace, head.metadata.name, data, path, root.line)


def _names(meta: ObjectMeta) -> list[FieldError]:
    if not meta.name:
        return [FieldError("metadata.name", "Required value", detail="name or generateName is required")]
    return _wrong("metadata.name", meta.name, dns1123_subdomain) + (
        _wrong("metadata.namespace", meta.namespace, dns1123_label) if meta.namespace else []
    )


def _wrong(path: str, value: str, rule: Rule) -> list[FieldError]:
    return [FieldError(path, "Invalid value", value, text) for text in rule(value)]


def _values(root: Node, field: str, values: dict[str, bytes], *, encoded: bool) -> list[FieldError]:
    """Adds each value of one field to ``values``; returns the mistakes."""
    assert isinstance(root.value, dict), "the caller has looked"
    member = root.value.get(field)
    if member is None or member.node.value is None:
        return []
    if not isinstance(member.node.value, dict):
        return [FieldError(field, "Invalid value", REDACTED, "must be a mapping of texts")]
    errors = []
    for key, entry in member.node.value.items():
        errors += _wrong(f"{field}[{key}]", key, config_key)
        try:
            values[key] = _value(entry, encoded=encoded)
        except ValueError as error:
            errors.append(FieldError(f"{field}[{key}]", "Invalid value", REDACTED, str(error)))
    return errors


def _value(entry: Member, *, encoded: bool) -> bytes:
    """The bytes of one value. Raises ValueError, whose text has nothing of the value."""
    value = entry.node.value
    if value is None:
        return b""
    if not isinstance(value, str):
        # YAML 1.1 reads yes, on, 8080 and 1.20 as something other than texts unless they are quoted.
        raise ValueError("must be a text; write a number or a word such as yes in quotes")
    try:
        return binascii.a2b_base64("".join(value.split()), strict_mode=True) if encoded else value.encode()
    except ValueError:
        raise ValueError("must be base64" if encoded else "must be Unicode") from None


def _size(values: dict[str, bytes]) -> int:
    return sum(len(value) for value in values.values())
