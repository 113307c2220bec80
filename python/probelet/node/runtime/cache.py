"""What the runtime has, pod by pod, from three sources: events, lists, and answers to the node's own calls.

The sources overlap and may overtake each other. Ids are never used twice and a container's states only go forward, so
the rule is simple: a step forward is believed from any source, a step backward from none. A list that lacks a container
or sandbox drops it, unless it became known after the node had asked for the list.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord, Snapshot, State

REMOVED_KEPT: Final = 64
"""How many removed ids of a pod are remembered, so that a late event does not bring them back: far more than a pod has
events in flight."""

_PROGRESS: Final = {State.UNKNOWN: 0, State.CREATED: 1, State.RUNNING: 2, State.EXITED: 3}


@dataclass(slots=True)
class _Known:
    sandboxes: dict[str, SandboxRecord] = field(default_factory=dict)
    containers: dict[str, ContainerRecord] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    removed: deque[str] = field(default_factory=lambda: deque(maxlen=REMOVED_KEPT))


class PodCache:
    """The cache that ``Pleg`` feeds. ``now`` is the moment, on the engine's clock, at which the news arrived."""

    def __init__(self) -> None:
        self._pods: dict[str, _Known] = {}

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
        known = self._pods.setdefault(uid, _Known())
        old = known.containers.get(record.id)
        if record.id in known.removed or (old is not None and _PROGRESS[record.state] <= _PROGRESS[old.state]):
            return False
        known.containers[record.id] = record
        known.since.setdefault(record.id, now)
        return True

    def put_sandbox(self, uid: str, record: SandboxRecord, now: int) -> bool:
        """Takes a sandbox's record; True if it changed the cache. A sandbox that is not ready stays so."""
        known = self._pods.setdefault(uid, _Known())
        old = known.sandboxes.get(record.id)
        if record.id in known.removed or old == record or (old is not None and record.ready and not old.ready):
            return False
        known.sandboxes[record.id] = record
        known.since.setdefault(record.id, now)
        return True

    def drop(self, uid: str, id: str) -> bool:
        """Drops a container or sandbox that is gone; True if it was known."""
        known = self._pods.get(uid)
        if known is None:
            return False
        was_known = known.containers.pop(id, None) is not None or known.sandboxes.pop(id, None) is not None
        known.since.pop(id, None)
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
        self._pods.pop(uid, None)
