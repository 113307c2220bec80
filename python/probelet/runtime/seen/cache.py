"""The runtime's pods, kept from three sources: events, lists, and answers to the node's own calls.

The sources overlap and may overtake each other. Ids are never used twice and a container's states only go forward, so
the rule is simple: a step forward is believed from any source, a step backward from none. A list that lacks a container
or sandbox drops it, unless it became known after the node had asked for the list.

Whatever the runtime says, the cache holds at most ``PODS_MAX`` pods with ``RECORDS_MAX`` containers and sandboxes each.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord, Snapshot, State

REMOVED_KEPT: Final = 64
"""How many removed ids of a pod are remembered, so that a late event does not bring them back: far more than a pod has
events in flight."""

PODS_MAX: Final = 2**16
"""Most pods in the cache. Other users of the runtime have pods on it too, and an event may name any pod."""

UID_CHARS_MAX: Final = 253
"""A longer label is no UID of a pod."""

RECORDS_MAX: Final = 512
"""Most containers of one pod in the cache, and most sandboxes."""

_PROGRESS: Final = {State.UNKNOWN: 0, State.CREATED: 1, State.RUNNING: 2, State.ENDED: 3, State.EXITED: 4}


@dataclass(slots=True)
class _Known:
    sandboxes: dict[str, SandboxRecord] = field(default_factory=dict)
    containers: dict[str, ContainerRecord] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    removed: deque[str] = field(default_factory=lambda: deque(maxlen=REMOVED_KEPT))
    as_listed: set[str] = field(default_factory=set)
    """The ids on which the runtime has not reported: their records are made from its list."""


class PodCache:
    """The cache that ``Pleg`` feeds. ``now`` is the moment, on the engine's clock, at which the news arrived."""

    def __init__(self) -> None:
        self._pods: dict[str, _Known] = {}
        # The pod of each id: no id is used twice, so an id stays with the first pod that it was seen with.
        self._owners: dict[str, str] = {}

    def owner(self, id: str) -> str | None:
        """The UID of the pod that has the container or sandbox of this id."""
        return self._owners.get(id)

    def snapshot(self, uid: str) -> Snapshot:
        """The pod as known, newest first; empty for a pod that the runtime does not have."""
        known = self._pods.get(uid)
        if known is None:
            return Snapshot()
        # Of two that were created in one instant, the one with the later attempt is the newer.
        return Snapshot(
            tuple(sorted(known.sandboxes.values(), key=lambda s: (s.created_at_ns, s.attempt), reverse=True)),
            tuple(sorted(known.containers.values(), key=lambda c: (c.created_at_ns, c.restart_count), reverse=True)),
        )

    def uids(self) -> set[str]:
        """The UIDs of all pods of which the runtime has a sandbox or a container."""
        return set(self._pods)

    def container(self, uid: str, container_id: str) -> ContainerRecord | None:
        """One container as known."""
        known = self._pods.get(uid)
        return known.containers.get(container_id) if known else None

    def sandbox(self, uid: str, sandbox_id: str) -> SandboxRecord | None:
        """One sandbox as known."""
        known = self._pods.get(uid)
        return known.sandboxes.get(sandbox_id) if known else None

    def put_container(self, uid: str, record: ContainerRecord, now: int) -> bool:
        """Takes a container's record; True if it changed the cache."""
        known = self._room_for(uid, record.id)
        if known is None:
            return False
        old = known.containers.get(record.id)
        if old is not None and record.id not in known.as_listed and _PROGRESS[record.state] <= _PROGRESS[old.state]:
            return False
        known.containers[record.id] = record
        known.as_listed.discard(record.id)
        self._note(uid, known, record.id, now)
        return True

    def put_sandbox(self, uid: str, record: SandboxRecord, now: int) -> bool:
        """Takes a sandbox's record; True if it changed the cache. A sandbox that is not ready stays so."""
        known = self._room_for(uid, record.id)
        if known is None:
            return False
        old = known.sandboxes.get(record.id)
        if old is not None and record.id not in known.as_listed and record.ready and not old.ready:
            return False
        known.sandboxes[record.id] = record
        known.as_listed.discard(record.id)
        self._note(uid, known, record.id, now)
        return old != record

    def put_as_listed(self, uid: str, record: ContainerRecord | SandboxRecord, now: int) -> bool:
        """Takes a record that was made from a list alone, if there is no better one; True if it changed the cache."""
        known = self._room_for(uid, record.id)
        if known is None or (record.id in known.since and record.id not in known.as_listed):
            return False
        if isinstance(record, SandboxRecord):
            changed = known.sandboxes.get(record.id) != record
            known.sandboxes[record.id] = record
        else:
            changed = known.containers.get(record.id) != record
            known.containers[record.id] = record
        known.as_listed.add(record.id)
        self._note(uid, known, record.id, now)
        return changed

    def _note(self, uid: str, known: _Known, id: str, now: int) -> None:
        known.since.setdefault(id, now)
        self._owners[id] = uid

    def _room_for(self, uid: str, id: str) -> _Known | None:
        """The pod, if it is to have a record of this id: None for an id that is gone or another pod's, and beyond the
        limits."""
        known = self._pods.get(uid)
        if self._owners.get(id, uid) != uid:
            return None
        if known is None:
            has_room = len(self._pods) < PODS_MAX and len(uid) <= UID_CHARS_MAX
            return self._pods.setdefault(uid, _Known()) if has_room else None
        is_full = len(known.containers) >= RECORDS_MAX or len(known.sandboxes) >= RECORDS_MAX
        return None if id in known.removed or (is_full and id not in known.since) else known

    def drop(self, uid: str, id: str) -> bool:
        """Drops a container or sandbox that is gone; True if it was known."""
        known = self._pods.get(uid)
        if known is None:
            return False
        was_known = known.containers.pop(id, None) is not None or known.sandboxes.pop(id, None) is not None
        if known.since.pop(id, None) is not None:
            del self._owners[id]
        known.as_listed.discard(id)
        known.removed.append(id)
        return was_known

    def keep_only(self, uid: str, ids: set[str], asked_at: int) -> bool:
        """Drops everything that a list, asked for at ``asked_at``, does not have; True if anything was dropped."""
        known = self._pods.get(uid)
        if known is None:
            return False
        gone = [id for id, since in known.since.items() if id not in ids and since < asked_at]
        for id in gone:
            self.drop(uid, id)
        if not ids and not known.since:
            self.forget(uid)
        return bool(gone)

    def forget(self, uid: str) -> None:
        """Drops the whole pod."""
        known = self._pods.pop(uid, None)
        for id in known.since if known is not None else ():
            del self._owners[id]
