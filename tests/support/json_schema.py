"""A reader of JSON schemas with the keywords that probelet's schema and SARIF's use, so that no library is needed. An
unknown keyword is an error: a schema that grows cannot pass by accident."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}
SILENT = {"$id", "$schema", "$defs", "definitions", "title", "description", "default", "deprecated"}
"""Keywords that say nothing about a value; ``if`` and ``then`` are read together."""

URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
"""The characters of RFC 3986: what is none of them has to be encoded."""


def mistakes(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "") -> Iterator[str]:
    """One line for each rule that the value breaks."""
    for keyword, rule in schema.items():
        if keyword in SILENT or keyword == "then":
            continue
        for mistake in _RULES[keyword](value, rule, schema, root, path):
            yield mistake or f"{path}: {keyword}"


def _type(value: Any, rule: Any, *_: Any) -> Iterator[str | None]:
    names = [rule] if isinstance(rule, str) else rule
    if not any(_is(value, name) for name in names):
        yield None


def _is(value: Any, name: str) -> bool:
    if name == "integer":
        return _is(value, "number") and float(value).is_integer()
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _enum(value: Any, rule: list[Any], *_: Any) -> Iterator[str | None]:
    # In JSON true is not 1.
    if not any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in rule):
        yield None


def _bound(value: Any, broken: bool) -> Iterator[str | None]:
    if _is(value, "number") and broken:
        yield None


def _shorter(value: Any, rule: int) -> bool:
    return isinstance(value, list) and len(value) < rule


def _pattern(value: Any, rule: str, *_: Any) -> Iterator[str | None]:
    if isinstance(value, str) and not re.search(rule, value):
        yield None


def _required(value: Any, rule: list[str], *_: Any) -> Iterator[str | None]:
    if isinstance(value, dict):
        yield from (None for name in rule if name not in value)


def _properties(value: Any, rule: dict[str, Any], _: Any, root: dict[str, Any], path: str) -> Iterator[str | None]:
    if isinstance(value, dict):
        for name in rule.keys() & value.keys():
            yield from mistakes(value[name], rule[name], root, f"{path}.{name}")


def _others(value: Any, rule: Any, schema: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[str | None]:
    if isinstance(value, dict):
        for name in value.keys() - schema.get("properties", {}).keys():
            if rule is False:
                yield f"{path}.{name}: additionalProperties"
            elif rule is not True:
                yield from mistakes(value[name], rule, root, f"{path}.{name}")


def _all(value: Any, rule: list[Any], _: Any, root: dict[str, Any], path: str) -> Iterator[str | None]:
    for each in rule:
        yield from mistakes(value, each, root, path)


def _any(value: Any, rule: list[Any], _: Any, root: dict[str, Any], path: str) -> Iterator[str | None]:
    if all(list(mistakes(value, each, root, path)) for each in rule):
        yield None


def _one(value: Any, rule: list[Any], _: Any, root: dict[str, Any], path: str) -> Iterator[str | None]:
    if sum(not list(mistakes(value, each, root, path)) for each in rule) != 1:
        yield None


def _items(value: Any, rule: Any, _: Any, root: dict[str, Any], path: str) -> Iterator[str | None]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from mistakes(item, rule, root, f"{path}[{index}]")


def _format(value: Any, rule: str, *_: Any) -> Iterator[str | None]:
    if rule.startswith("uri") and isinstance(value, str):
        if not URI.fullmatch(value) or (rule == "uri" and ":" not in value):
            yield None
    elif rule != "date-time" and not rule.startswith("uri"):
        raise KeyError(rule)


def _unique(value: Any, rule: bool, *_: Any) -> Iterator[str | None]:
    if rule and isinstance(value, list) and len({json.dumps(item, sort_keys=True) for item in value}) < len(value):
        yield None


def _if(value: Any, rule: Any, schema: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[str | None]:
    if not list(mistakes(value, rule, root, path)):
        yield from mistakes(value, schema["then"], root, path)


def _ref(value: Any, rule: str, _: Any, root: dict[str, Any], path: str) -> Iterator[str | None]:
    target = root
    for name in rule.removeprefix("#/").split("/"):
        target = target[name]
    yield from mistakes(value, target, root, path)


_RULES: dict[str, Callable[..., Iterator[str | None]]] = {
    "$ref": _ref,
    "additionalProperties": _others,
    "allOf": _all,
    "anyOf": _any,
    "const": lambda value, rule, *_: _enum(value, [rule]),
    "enum": _enum,
    "exclusiveMinimum": lambda value, rule, *_: _bound(value, _is(value, "number") and value <= rule),
    "format": _format,
    "if": _if,
    "items": _items,
    "maximum": lambda value, rule, *_: _bound(value, _is(value, "number") and value > rule),
    "minItems": lambda value, rule, *_: _bound(len(value) if isinstance(value, list) else rule, _shorter(value, rule)),
    "minimum": lambda value, rule, *_: _bound(value, _is(value, "number") and value < rule),
    "oneOf": _one,
    "pattern": _pattern,
    "properties": _properties,
    "required": _required,
    "type": _type,
    "uniqueItems": _unique,
}
