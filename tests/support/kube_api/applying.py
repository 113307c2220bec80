"""Server-side apply, as far as probelet uses it: maps, lists of conditions by type, and other lists as one value.

A manager owns the leaves that it applied. What it owned and no longer applies goes, unless another manager owns it.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from tests.support.kube_api.refusal import RefusalError

Path = tuple[Any, ...]
# What an applied object says about itself belongs to no manager.
_IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata", "uid")}


class Owners:
    """Which manager owns which leaves of one object."""

    def __init__(self) -> None:
        self.of: dict[str, set[Path]] = {}

    def apply(self, current: dict[str, Any], applied: dict[str, Any], manager: str, force: bool) -> dict[str, Any]:
        """The object after ``manager`` has applied. A Conflict if others own one of the leaves with another value."""
        leaves = {path: value for path, value in _leaves(applied) if path not in _IDENTITY}
        taken = {
            (path, other)
            for other, owned in self.of.items()
            for path in owned & leaves.keys()
            if other != manager and _at(current, path) != leaves[path]
        }
        if taken and not force:
            others = ", ".join(sorted({other for _, other in taken}))
            raise RefusalError(409, f"Apply failed with {len(taken)} conflicts: conflicts with {others}")
        for path, other in taken:
            self.of[other].discard(path)
        changed = deepcopy(current)
        kept = set().union(*(owned for other, owned in self.of.items() if other != manager))
        for path in self.of.get(manager, set()) - leaves.keys() - kept:
            _drop(changed, path)
        for path, value in leaves.items():
            _set(changed, path, value)
        self.of[manager] = set(leaves)
        return changed

    def wrote(self, before: dict[str, Any], after: dict[str, Any], manager: str) -> None:
        """A client without apply owns the leaves that it changed."""
        old = dict(_leaves(before))
        changed = {path for path, value in _leaves(after) if old.get(path) != value and path not in _IDENTITY}
        for owned in self.of.values():
            owned -= changed
        self.of.setdefault(manager, set()).update(changed)


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _leaves(below, (*path, key))
    elif isinstance(value, list) and value and path[-1] == "conditions":
        for item in value:
            yield from _leaves(item, (*path, ("type", item["type"])))
    else:
        yield path, value


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(step, tuple):
            value = next((item for item in value or () if item["type"] == step[1]), None)
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _set(target: dict[str, Any], path: Path, value: Any) -> None:
    here: Any = target
    for at, step in enumerate(path):
        if isinstance(step, tuple):
            item = next((item for item in here if item["type"] == step[1]), None)
            if item is None:
                item = {"type": step[1]}
                here.append(item)
            here = item
        elif at == len(path) - 1:
            here[step] = deepcopy(value)
        else:
            empty: Any = [] if isinstance(path[at + 1], tuple) else {}
            here = here.setdefault(step, empty)


def _drop(target: dict[str, Any], path: Path) -> None:
    holder = _at(target, path[:-1])
    if isinstance(holder, dict):
        holder.pop(path[-1], None)
    # The key of a list item is owned too; without it the item itself goes.
    if path[-1] == "type" and isinstance(path[-2], tuple):
        items = _at(target, path[:-2])
        items[:] = [item for item in items if item.get("type") != path[-2][1] and item]
