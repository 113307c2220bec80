"""Finds the fields of a JSON object that its type in this release does not have."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as types


@cache
def _fields(cls: type[msgspec.Struct]) -> dict[str, types.Type]:
    info = types.type_info(cls)
    assert isinstance(info, types.StructType)
    return {field.encode_name: field.type for field in info.fields}


def unknown_fields(value: Any, cls: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    """Yields the path of each member that ``cls`` and the structs in it do not have. A member that is null counts:
    the release that knows it may give null a meaning.
    """
    if not isinstance(value, dict):
        return
    known = _fields(cls)
    for name, member in value.items():
        inner = f"{path}.{name}" if path else str(name)
        declared = known.get(name)
        if declared is None:
            yield inner
        else:
            yield from _inside(member, declared, inner)


def _inside(value: Any, info: types.Type, path: str) -> Iterator[str]:
    match info:
        case types.StructType():
            yield from unknown_fields(value, info.cls, path)
        case types.UnionType():
            for option in info.types:
                yield from _inside(value, option, path)
        case types.ListType() if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _inside(item, info.item_type, f"{path}[{index}]")
        case _:
            # A scalar has no members; probes have no maps.
            return
