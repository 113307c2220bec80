"""The objects, their versions, and what changed."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from probelet.kube.kind import Kind

from tests.support.kube_api.applying import Owners
from tests.support.kube_api.refusal import gone

Object = dict[str, Any]
Key = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """One change of one object."""

    version: int
    kind: Kind
    before: Object | None
    after: Object | None


class Store:
    """Objects by kind, namespace and name. What it holds is never changed in place."""

    def __init__(self) -> None:
        self.version = 100
        self.oldest = 0
        """Versions before this one are forgotten."""
        self.owners: dict[tuple[Kind, Key], Owners] = {}
        self._objects: dict[Kind, dict[Key, Object]] = {}
        self._changes: list[Change] = []
        self._pages: dict[str, list[Object]] = {}
        self.listeners: list[Callable[[], None]] = []

    def get(self, kind: Kind, key: Key) -> Object | None:
        return self._objects.get(kind, {}).get(key)

    def all(self, kind: Kind) -> list[Object]:
        """In the order of the keys, as etcd has them."""
        return [found for _, found in sorted(self._objects.get(kind, {}).items())]

    def write(self, kind: Kind, key: Key, obj: Object | None) -> Object:
        """Stores an object, or with None removes it, at the next version; a write that changes nothing has none."""
        before = self.get(kind, key)
        if obj is not None and before is not None and _same(before, obj):
            return before
        self.version += 1
        after = deepcopy(obj)
        if after is not None:
            after["metadata"]["resourceVersion"] = str(self.version)
            self._objects.setdefault(kind, {})[key] = after
            self.owners.setdefault((kind, key), Owners())
        else:
            del self._objects[kind][key]
            self.owners.pop((kind, key), None)
        self._changes.append(Change(self.version, kind, before, after))
        for listener in self.listeners:
            listener()
        found = after or before
        assert found is not None, "an object that is removed was there"
        return found

    def since(self, kind: Kind, version: int) -> Iterable[Change]:
        """The changes after a version. Gone if some of them are forgotten."""
        if version < self.oldest:
            raise gone(f"{version} ({self.oldest})")
        return [change for change in self._changes if change.kind == kind and change.version > version]

    def compact(self) -> None:
        """Forgets all changes up to now, and the pages of lists that clients have not read to their end."""
        self.version += 1
        self.oldest = self.version
        self._changes.clear()
        self._pages.clear()

    def backup(self) -> Callable[[], None]:
        """A function that makes the store as it is now again, as a restore of etcd does: versions come twice."""
        objects, version = {kind: dict(found) for kind, found in self._objects.items()}, self.version

        def restore() -> None:
            self._objects, self.version, self.oldest = objects, version, version
            self._changes.clear()
            self._pages.clear()

        return restore

    def keep_page(self, rest: list[Object], version: int) -> str:
        """The token for the rest of a list."""
        token = f"page-{version}-{len(self._pages)}"
        self._pages[token] = rest
        return token

    def page(self, token: str) -> tuple[list[Object], int]:
        """The rest of a list, and the version of the list."""
        if token not in self._pages:
            raise gone("the provided continue parameter is too old")
        return self._pages[token], int(token.split("-")[1])


def _same(before: Object, after: Object) -> bool:
    def plain(obj: Object) -> Object:
        return obj | {"metadata": {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}}

    return plain(before) == plain(after)
