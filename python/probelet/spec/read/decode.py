"""Decodes a tree into typed objects, and reports every mistake at once, each with its line and field.

An unknown field is a warning, because the kubelet accepts it. A wrong type is an error and leaves the field unset, so
that one pass finds every mistake of a file. This module walks the declarations of the msgspec Structs itself: msgspec's
decoder stops at the first mistake and has no line numbers.

Three ways of writing are for documents of ours: a struct with a class attribute ``scalar_field`` may be written as the
value of that field alone (``latency: 40ms`` for ``latency: {always: 40ms}``), a union of tagged structs is chosen
by its tag, and a field may have another type in a file than in Python (``in_file``).
"""

import difflib
import math
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect as types

from probelet.spec.read.tree import Document, Node
from probelet.spec.text.duration import DurationError, parse_duration
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import Problem, Severity, go_value, shorten

T = TypeVar("T", bound=msgspec.Struct)

# The value of a field of the wrong type: the field stays unset, which differs from None.
_NOTHING = object()

# The search for the nearest known name takes a millisecond; a file full of unknown names must not take minutes.
SUGGESTIONS_MAX = 50

# ``Meta(extra={"format": "duration"})`` marks a field written as a Go duration; ``extra`` may have more keys.
DURATION_FORMAT = {"format": "duration"}

UNKNOWN: Final = "unknown field, ignored"
"""The words about a field that the API does not have."""


def is_duration(info: types.Type) -> bool:
    """True for the type of a duration, also of one that may be unset."""
    return extra_of(info).items() >= DURATION_FORMAT.items()


def extra_of(info: types.Type) -> dict[str, Any]:
    """The ``Meta(extra=...)`` of a type, also of one that may be unset."""
    if isinstance(info, types.UnionType):
        return next((found for option in info.types if (found := extra_of(option))), {})
    return info.extra or {} if isinstance(info, types.Metadata) else {}


def in_file(written: Any, **default: Any) -> msgspec.Meta:
    """Marks a field that has another type in a file than in Python: ``Annotated[str | int, in_file(Duration)]``.

    ``default`` is the value of a field that the file leaves out, if it is not the default in Python.
    """
    return msgspec.Meta(extra={"in_file": written, **default})


@cache
def file_fields(cls: type[msgspec.Struct]) -> list[types.Field]:
    """The fields of a struct with their types in a file."""
    return [msgspec.structs.replace(field, type=_in_file(field.type)) for field in _struct(cls).fields]


@cache
def file_defaults(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """The values of the fields that a file leaves out, where Python has other defaults."""
    extras = {field.name: extra_of(field.type) for field in _struct(cls).fields}
    return {name: extra["default"] for name, extra in extras.items() if "default" in extra}


def _in_file(info: types.Type) -> types.Type:
    written = extra_of(info).get("in_file")
    return info if written is None else types.type_info(written)


@cache
def _struct(cls: type[msgspec.Struct]) -> types.StructType:
    info = types.type_info(cls)
    assert isinstance(info, types.StructType)
    return info


@cache
def _fields(cls: type[msgspec.Struct]) -> dict[str, types.Field]:
    return {field.encode_name: field for field in file_fields(cls)}


def decode(document: Document, cls: type[T], path: Path | None, problems: list[Problem]) -> T:
    """Builds a ``cls`` from a document whose root is a mapping; appends each mistake to ``problems``."""
    report_duplicates(document, path, problems)
    return decode_node(document.root, cls, path, problems)


def report_duplicates(document: Document, path: Path | None, problems: list[Problem]) -> None:
    """Warns of each key that one mapping holds twice."""
    for line, field in document.duplicates:
        problems.append(Problem("warning", "duplicate field, the last one counts", path, line, field))


def decode_node(node: Node, cls: type[T], path: Path | None, problems: list[Problem], field: str = "") -> T:
    """Like ``decode``, for the part of a document at the path ``field``."""
    value = _Decoder(path, problems).value(node, _struct(cls), field, node.line)
    return cls() if value is _NOTHING else value


class _Decoder:
    def __init__(self, path: Path | None, problems: list[Problem]) -> None:
        self._path = path
        self._problems = problems

    def _report(self, severity: Severity, line: int, field: str, message: str) -> None:
        self._problems.append(Problem(severity, message, self._path, line, field))

    def _wrong(self, node: Node, field: str, line: int, wanted: str) -> Any:
        is_fraction = wanted == "an integer" and isinstance(node.value, float) and math.isfinite(node.value)
        kind = "a fraction" if is_fraction else _kind(node)
        message = f"Invalid value: {shorten(go_value(node.plain()))}: must be {wanted}, not {kind}"
        if wanted == "a string" and not isinstance(node.value, list | dict):
            # YAML 1.1 reads yes, on, 8080 and 1.20 as something other than texts unless they are quoted.
            message += f"; write {shorten(go_quote(node.text))} in quotes"
        elif wanted == "an integer" and isinstance(node.value, str) and node.value.isdecimal():
            message += f"; write {shorten(node.value)} without quotes"
        self._report("error", line, field, message)
        return _NOTHING

    def value(self, node: Node, info: types.Type, field: str, line: int) -> Any:
        """Converts ``node`` to the declared type. A null becomes the zero value, as in Go's JSON decoder."""
        value = node.value
        if value is None:
            return _zero(info)
        match info:
            case types.AnyType():
                return node.plain()
            case types.StructType():
                return self._members(node, info.cls, field, line)
            case types.ListType():
                return self._items(node, info, field, line)
            case types.DictType():
                return self._entries(node, info, field, line)
            case types.UnionType():
                return self._union(node, info, field, line)
            case types.Metadata() if is_duration(info):
                return self._duration(node, field, line)
            case types.Metadata():
                return self.value(node, info.type, field, line)
            case types.LiteralType():
                return self._literal(node, info, field, line)
            case types.StrType():
                return value if isinstance(value, str) else self._wrong(node, field, line, "a string")
            case types.BoolType():
                return value if isinstance(value, bool) else self._wrong(node, field, line, "true or false")
            case types.IntType():
                return self._int(node, info, field, line)
            case types.FloatType() if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
            case types.FloatType():
                return self._wrong(node, field, line, "a number")
            case _:
                raise AssertionError(info)

    def _members(self, node: Node, cls: type[msgspec.Struct], field: str, line: int) -> Any:
        known, tag = _fields(cls), _struct(cls).tag_field
        if not isinstance(node.value, dict):
            scalar = getattr(cls, "scalar_field", None)
            if scalar is None or isinstance(node.value, list):
                return self._wrong(node, field, line, "a mapping")
            value = self.value(node, known[scalar].type, field, line)
            return value if value is _NOTHING else cls(**{known[scalar].name: value})
        found = dict(file_defaults(cls))
        for name, member in node.value.items():
            if name == tag:
                continue
            # A key may be empty; a message about it still has to name it.
            shown = name or '""'
            inner = f"{field}.{shown}" if field else shown
            declared = known.get(name)
            if declared is None:
                self._report("warning", member.line, inner, self._unknown(name, known))
            elif member.node.value is not None:
                value = self.value(member.node, declared.type, inner, member.line)
                if value is not _NOTHING:
                    found[declared.name] = value
        return cls(**found)

    def _unknown(self, name: str, known: dict[str, types.Field]) -> str:
        close: list[str] = []
        if len(self._problems) < SUGGESTIONS_MAX:
            close = difflib.get_close_matches(name, known, n=1)
        return UNKNOWN + (f"; did you mean {close[0]}?" if close else "")

    def _items(self, node: Node, info: types.ListType, field: str, line: int) -> Any:
        if not isinstance(node.value, list):
            return self._wrong(node, field, line, "a list")
        items = []
        for index, item in enumerate(node.value):
            value = self.value(item, info.item_type, f"{field}[{index}]", item.line)
            # An element of the wrong type keeps its index, so that the paths of later elements stay right.
            items.append(_zero(info.item_type) if value is _NOTHING else value)
        return items

    def _entries(self, node: Node, info: types.DictType, field: str, line: int) -> Any:
        if not isinstance(node.value, dict):
            return self._wrong(node, field, line, "a mapping")
        entries = {}
        for name, member in node.value.items():
            value = self.value(member.node, info.value_type, f"{field}[{name}]", member.line)
            if value is not _NOTHING:
                entries[name] = value
        return entries

    def _union(self, node: Node, info: types.UnionType, field: str, line: int) -> Any:
        options = [option for option in info.types if not isinstance(option, types.NoneType)]
        if len(options) == 1:
            return self.value(node, options[0], field, line)
        if isinstance(options[0], types.StructType):
            return self._tagged(node, options, field, line)
        # The only union of the API is IntOrString.
        for option in options:
            if isinstance(option, types.StrType) and isinstance(node.value, str):
                return node.value
            if isinstance(option, types.IntType) and _integer(node.value) is not None:
                return self._int(node, option, field, line)
        return self._wrong(node, field, line, "an integer or a string")

    def _tagged(self, node: Node, options: list[types.Type], field: str, line: int) -> Any:
        """A struct of a union; its tag says which."""
        if not isinstance(node.value, dict):
            return self._wrong(node, field, line, "a mapping")
        structs = {str(option.tag): option for option in options if isinstance(option, types.StructType)}
        key = next(iter(structs.values())).tag_field or ""
        inner = f"{field}.{key}" if field else key
        if key not in node.value:
            self._report("error", line, inner, f"Required value: one of {', '.join(structs)}")
            return _NOTHING
        tag = node.value[key]
        chosen = structs.get(node.text_of(key))
        if chosen is None:
            written = tag.node.plain()
            close = difflib.get_close_matches(str(written), structs, n=1) if isinstance(written, str) else []
            meant = f"; did you mean {close[0]}?" if close else ""
            message = f"Unsupported value: {shorten(go_value(written))}: supported values: {', '.join(structs)}{meant}"
            self._report("error", tag.line, inner, message)
            return _NOTHING
        return self._members(node, chosen.cls, field, line)

    def _int(self, node: Node, info: types.IntType, field: str, line: int) -> Any:
        value = _integer(node.value)
        if value is None:
            return self._wrong(node, field, line, "an integer")
        if (info.ge is not None and value < info.ge) or (info.le is not None and value > info.le):
            message = f"Invalid value: {value}: must be between {info.ge} and {info.le}, inclusive"
            self._report("error", line, field, message)
            return _NOTHING
        return value

    def _duration(self, node: Node, field: str, line: int) -> Any:
        if not isinstance(node.value, str):
            return self._wrong(node, field, line, 'a duration text such as "1m30s"')
        try:
            return parse_duration(node.value)
        except DurationError as error:
            self._report("error", line, field, f"Invalid value: {shorten(go_value(node.value))}: {error}")
            return _NOTHING

    def _literal(self, node: Node, info: types.LiteralType, field: str, line: int) -> Any:
        if not isinstance(node.value, str):
            return self._wrong(node, field, line, "a string")
        if node.value not in info.values:
            allowed = ", ".join(go_value(value) for value in info.values)
            message = f"Unsupported value: {shorten(go_value(node.value))}: supported values: {allowed}"
            self._report("error", line, field, message)
            return _NOTHING
        return node.value


def _zero(info: types.Type) -> Any:
    """Go's zero value of a type."""
    match info:
        case types.StructType():
            return info.cls()
        case types.StrType():
            return ""
        case types.IntType():
            return 0
        case types.BoolType():
            return False
        case types.ListType():
            return []
        case types.DictType():
            return {}
        case _:
            return None


def _integer(value: Any) -> int | None:
    """An integer as Go's decoder accepts it: 10, and also 10.0 or 1e1, because the YAML passes through JSON as 10."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def _kind(node: Node) -> str:
    match node.value:
        case bool():
            # The booleans of YAML 1.1 surprise people, so the message repeats what the file says.
            source = f" (YAML reads {node.text} so)" if node.text.lower() not in ("true", "false", "") else ""
            return f"a boolean{source}"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "a mapping"
