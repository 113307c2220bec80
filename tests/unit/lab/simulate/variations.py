"""A scenario with each of its numbers changed by a fifth: an outcome must not hang on a number that somebody chose."""

from collections.abc import Iterator
from typing import Any

import msgspec
from probelet.lab.scenario import Scenario, ScenarioFile

FIFTH = (0.8, 1.2)
FIXED = frozenset({"duration", "nodes", "code", "replicas"})
"""How long one looks on, how many nodes there are, and what an exit says, change nothing that is measured."""

all_of_them = False
"""Whether both changes of a number are played. Otherwise one of them is: lower and higher by turns."""


def variations(file: ScenarioFile) -> Iterator[tuple[str, ScenarioFile]]:
    """The scenario as it is, then with each number four fifths or six fifths as large, one at a time."""
    yield "as written", file
    for place, path in enumerate(_numbers(file.scenario, ())):
        for factor in FIFTH if all_of_them else (FIFTH[place % 2],):
            name = f"{'.'.join(map(str, path))} x {factor}"
            changed: Scenario = _changed(file.scenario, path, factor)
            yield name, ScenarioFile(changed, file.path, file.root)


def _numbers(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    match value:
        case bool() | str() | None:
            return
        case int() | float():
            if value:
                yield path
        case msgspec.Struct():
            for name in value.__struct_fields__:
                if name not in FIXED:
                    yield from _numbers(getattr(value, name), (*path, name))
        case list():
            for index, item in enumerate(value):
                yield from _numbers(item, (*path, index))
        case dict():
            for name, item in value.items():
                yield from _numbers(item, (*path, name))


def _changed(value: Any, path: tuple[str | int, ...], factor: float) -> Any:
    if not path:
        return type(value)(value * factor)
    step, rest = path[0], path[1:]
    match value:
        case msgspec.Struct():
            return msgspec.structs.replace(value, **{str(step): _changed(getattr(value, str(step)), rest, factor)})
        case list():
            return [_changed(item, rest, factor) if index == step else item for index, item in enumerate(value)]
        case _:
            return {name: _changed(item, rest, factor) if name == step else item for name, item in value.items()}
