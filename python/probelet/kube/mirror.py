"""The objects of a collection as their reader's own type, and how they change. No I/O: lists and events come in.

Laws:

1. ``items`` is the collection as the newest list and the events after it have it.
2. Each difference is one call of ``on_change``: from one version of an object to the next, from None for an object that
   came, to None for one that is gone. An object of the same name but another UID is a deletion and an addition.
3. An object that cannot be read keeps its last version, and costs one line of the log.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import structlog

from probelet.base.printable import one_line
from probelet.errors import ProbeletError

T = TypeVar("T")
Key = tuple[str, str]
Object = dict[str, Any]

log = structlog.get_logger("probelet.kube")


class ObjectError(ProbeletError, ValueError):
    """The object that came has no name, UID or version, so it is no object of an API server."""


@dataclass(slots=True)
class Seen(Generic[T]):
    """An object as it came: what it was made of, or that its last version stays."""

    key: Key
    uid: str
    version: str
    value: T | None
    stays: bool = False


class Mirror(Generic[T]):
    """The objects by namespace and name.

    ``decode`` makes a ``T`` of an object, or None of an object that is ignored. It may raise anything: objects come
    from outside. Two ``T`` are equal if they have the same value. ``on_change`` gets the version before and the version
    now, and must not fail.
    """

    def __init__(
        self, resource: str, decode: Callable[[Object], T | None], on_change: Callable[[T | None, T | None], None]
    ) -> None:
        self.version = ""
        """The server's version of the collection; empty if a list is needed."""
        self._resource = resource
        self._decode = decode
        self._on_change = on_change
        self._items: dict[Key, T] = {}
        self._made_of: dict[Key, tuple[str, str]] = {}
        # Callers know objects by their UID, so a UID has one key, whatever a server says: that of the newest word.
        self._key_of: dict[str, Key] = {}
        # Objects that cannot be read and are in the log; at most those of the newest list and the events after it.
        self._unreadable: set[Key] = set()

    @property
    def items(self) -> Mapping[Key, T]:
        """The objects, a view that changes with the mirror."""
        return MappingProxyType(self._items)

    def see(self, found: Object) -> Seen[T]:
        """Returns the change that ``found`` means. Raises ObjectError for one without a name or version."""
        key, uid, version = identity(found)
        try:
            value = self._decode(found)
        except Exception as error:
            if key not in self._unreadable:
                self._unreadable.add(key)
                reason = one_line(f"{type(error).__name__}: {error}"[:1024])
                log.warning(f"{self._resource} {'/'.join(key)} cannot be read; its last version stays", reason=reason)
            return Seen(key, uid, version, None, stays=True)
        self._unreadable.discard(key)
        return Seen(key, uid, version, value)

    def replace(self, objects: Iterable[Seen[T]], version: str) -> None:
        """The collection is ``objects`` at ``version``. Deletions come first, because they free names."""
        listed = {seen.key: seen for seen in objects}
        self._unreadable &= listed.keys()
        for key in [key for key in self._items if key not in listed]:
            self._remove(key)
        for seen in listed.values():
            self._put(seen)
        self.version = version

    def added_or_modified(self, found: Object) -> None:
        """An event ADDED or MODIFIED. Raises ObjectError as ``see``."""
        seen = self.see(found)
        self._put(seen)
        self.version = seen.version

    def deleted(self, found: Object) -> None:
        """An event DELETED: the object no longer exists, or the selectors no longer match it. Raises ObjectError."""
        key, uid, version = identity(found)
        self._unreadable.discard(key)
        if key in self._items and self._made_of[key][0] == uid:
            self._remove(key)
        self.version = version

    def bookmark(self, found: Object) -> None:
        """An event BOOKMARK: nothing changed up to its version. Raises ObjectError for one without a version."""
        self.version = _text(_metadata(found), "resourceVersion")

    def _put(self, seen: Seen[T]) -> None:
        before = self._items.get(seen.key)
        if before is not None and self._made_of[seen.key][0] != seen.uid:
            self._remove(seen.key)
            before = None
        if seen.stays:
            if before is not None:
                self._made_of[seen.key] = (seen.uid, seen.version)
        elif seen.value is not None:
            if (other := self._key_of.get(seen.uid, seen.key)) != seen.key:
                self._remove(other)
            self._key_of[seen.uid] = seen.key
            made_of = (seen.uid, seen.version)
            # Versions alone do not say that nothing changed: after a restore of etcd they come a second time.
            if self._made_of.get(seen.key) == made_of and before == seen.value:
                return
            self._items[seen.key] = seen.value
            self._made_of[seen.key] = made_of
            self._on_change(before, seen.value)
        elif before is not None:
            self._remove(seen.key)

    def _remove(self, key: Key) -> None:
        uid, _ = self._made_of.pop(key)
        if self._key_of.get(uid) == key:
            del self._key_of[uid]
        self._on_change(self._items.pop(key), None)


def identity(found: Object) -> tuple[Key, str, str]:
    """Namespace and name, UID, and version. Raises ObjectError for an object without one of them."""
    metadata = _metadata(found)
    namespace = metadata.get("namespace", "")
    if not isinstance(namespace, str):
        raise ObjectError("metadata.namespace is no text")
    key = (namespace, _text(metadata, "name"))
    return key, _text(metadata, "uid"), _text(metadata, "resourceVersion")


def _metadata(found: Object) -> Object:
    metadata = found.get("metadata")
    if not isinstance(metadata, dict):
        raise ObjectError("an object without metadata")
    return metadata


def _text(metadata: Object, field: str) -> str:
    value = metadata.get(field)
    if not isinstance(value, str) or not value:
        raise ObjectError(f"an object without metadata.{field}")
    return value
