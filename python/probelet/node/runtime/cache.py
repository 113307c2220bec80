"""What the runtime has, pod by pod, from every source that tells: events, lists, and answers to our own calls.

The sources overlap and may overtake each other. Ids are never used twice and a container's states only go forward, so
the rule is simple: forward is believed from anybody, backward from nobody, and only a list may say that something is
gone, unless it came after the list was asked for.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from probelet.policy.snapshot import ContainerRecord, SandboxRecord, Snapshot, State

REMOVED_KEPT: Final = 64
"""Ids per pod that were removed and that a late event must not bring back: far more than a pod has events in flight."""

_PROGRESS: Final = {State.UNKNOWN: 0, State.CREATED: 1, State.RUNNING: 2, State.EXITED: 3}


@dataclass(slots=True)
class _Known:
    sandboxes: dict[str, SandboxRecord] = field(default_factory=dict)
    containers: dict[str, ContainerRecord] = field(default_factory=dict)
    since: dict[str, int] = field(default_factory=dict)
    removed: deque[str] = field(default_factory=lambda: deque(maxlen=REMOVED_KEPT))


class PodCache:
    """The cache of ``pleg``. ``now`` is when the news was known, on the engine's clock."""

    def __init__(self) -> None:
        self._pods: dict[str, _Known] = {}

    def snapshot(self, uid: str) -> Snapshot:
        """The pod as known, newest first; empty for one the runtime does not have."""
        known = self._pods.get(uid)
        if known is None:
            return Snapshot()
        # Two of one instant: the later attempt is the newer one, whatever their ids.
        return Snapshot(
            tuple(sorted(known.sandboxes.values(), key=lambda s: (s.created_at_ns, s.attempt), reverse=True)),
            tuple(sorted(known.containers.values(), key=lambda c: (c.created_at_ns, c.restart_count), reverse=True)),
        )

    def uids(self) -> set[str]:
        """Every pod the runtime has something of."""
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
        """News of a container; True if it was news."""
        known = self._pods.setdefault(uid, _Known())
        old = known.containers.get(record.id)
        if record.id in known.removed or (old is not None and _PROGRESS[record.state] <= _PROGRESS[old.state]):
            return False
        known.containers[record.id] = record
        known.since.setdefault(record.id, now)
        return True

    def put_sandbox(self, uid: str, record: SandboxRecord, now: int) -> bool:
        """News of a sandbox; True if it was news. One that is not ready stays so."""
        known = self._pods.setdefault(uid, _Known())
        old = known.sandboxes.get(record.id)
        if record.id in known.removed or old == record or (old is not None and record.ready and not old.ready):
            return False
        known.sandboxes[record.id] = record
        known.since.setdefault(record.id, now)
        return True

    def drop(self, uid: str, id: str) -> bool:
        """A container or sandbox is gone; True if it was known."""
        known = self._pods.get(uid)
        if known is None:
            return False
        was_known = known.containers.pop(id, None) is not None or known.sandboxes.pop(id, None) is not None
        known.since.pop(id, None)
        known.removed.append(id)
        return was_known

    def keep_only(self, uid: str, ids: set[str], asked_at: int) -> bool:
        """A list asked for at ``asked_at`` has only these; True if something else was known and is now dropped."""
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
        """Nothing of the pod is left."""
        self._pods.pop(uid, None)
