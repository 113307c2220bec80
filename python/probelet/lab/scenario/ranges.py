"""The ranges that the fields of a scenario file declare, checked over the whole document."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as types

from probelet.spec.read.decode import file_fields, is_duration
from probelet.spec.text.duration import format_duration
from probelet.spec.text.problem import FieldError


def range_errors(struct: msgspec.Struct, path: str = "") -> Iterator[FieldError]:
    """A mistake for each value that its field's declaration does not allow: ``range`` of a duration or a number,
    ``minimum`` of a count."""
    scalar = getattr(struct, "scalar_field", None)
    for field, limits in _limits(type(struct)):
        name = path if field.name == scalar else f"{path}.{field.encode_name}".removeprefix(".")
        yield from _value(getattr(struct, field.name), limits, name)


def _value(value: Any, limits: "_Limits | None", path: str) -> Iterator[FieldError]:
    match value:
        case msgspec.Struct():
            yield from range_errors(value, path)
        case list():
            for index, item in enumerate(value):
                yield from _value(item, limits, f"{path}[{index}]")
        case dict():
            for key, item in value.items():
                yield from _value(item, limits, f"{path}[{key}]")
        case int() | float() if limits is not None and not limits.allow(value):
            shown = format_duration(int(value)) if limits.is_duration else value
            yield FieldError(path, "Invalid value", shown, f"must {limits.words}")


class _Limits(msgspec.Struct, frozen=True):
    allowed: str
    is_duration: bool

    @property
    def words(self) -> str:
        """Completes ``must``."""
        return "not be negative" if self.allowed == "not negative" else f"be {self.allowed}"

    def allow(self, value: float) -> bool:
        match self.allowed:
            case "above 0":
                return value > 0
            case "at least 1":
                return value >= 1
            case _:
                return value >= 0


@cache
def _limits(cls: type[msgspec.Struct]) -> list[tuple[types.Field, "_Limits | None"]]:
    return [(field, _of(field.type)) for field in file_fields(cls)]


def _of(info: types.Type) -> "_Limits | None":
    match info:
        case types.UnionType():
            return next((found for option in info.types if (found := _of(option)) is not None), None)
        case types.Metadata() if info.extra and "range" in info.extra:
            return _Limits(info.extra["range"], is_duration(info))
        case types.Metadata() if (info.extra_json_schema or {}).get("minimum") == 1:
            return _Limits("at least 1", is_duration=False)
        case _:
            return None
