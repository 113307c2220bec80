"""Finds the fields of a JSON object that its type in this release does not have."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as types


@cache
def _structs(cls: type[msgspec.Struct]) -> dict[str, type[msgspec.Struct] | None]:
    """The fields of a struct; with the struct inside, also one in a list, or None for a field that has none."""
    info = types.type_info(cls)
    assert isinstance(info, types.StructType)
    return {field.encode_name: _inside(field.type) for field in info.fields}


def _inside(info: types.Type) -> type[msgspec.Struct] | None:
    match info:
        case types.StructType():
            return info.cls
        case types.ListType():
            return _inside(info.item_type)
        case types.UnionType():
            return next(filter(None, map(_inside, info.types)), None)
        case _:
            # A scalar has no members; probes have no maps.
            return None


def unknown_fields(value: Any, cls: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    """Yields the path of each member that ``cls`` and the structs in it do not have. A member that is null counts:
    the release that knows it may give null a meaning.
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_fields(item, cls, f"{path}[{index}]")
    elif isinstance(value, dict):
        known = _structs(cls)
        for name, member in value.items():
            if name not in known:
                yield f"{path}.{name}" if path else name
            elif (inner := known[name]) is not None:
                yield from unknown_fields(member, inner, f"{path}.{name}" if path else name)
