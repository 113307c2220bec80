"""Which taken-over pods become unready because their node has had no agent for a while. An opt-in of the controller.

Laws

1. Silence is measured on the own clock, from the last sign of life that arrived: a Lease that changed, or a gate that
   somebody opened. The time in a Lease is that of another clock.
2. The clock of silence begins anew whenever the API server could not be read: agents could not renew their Leases then
   either.
3. A gate is closed once. The agent opens it when it is back, and that is a sign of life.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import msgspec

from probelet.beside.takeover.taken_pod import TakenPod

AGAIN_NS: Final = 10_000_000_000
"""The wait before a write that failed is tried again: a pod that is ready by mistake is no reason to flood a server."""


class Close(msgspec.Struct, frozen=True):
    """The gate of a pod closes, because the node's agent has been silent for ``silent_ns``."""

    pod: TakenPod
    silent_ns: int


class Absence:
    """Follows pods and Leases; ``due`` says what is to be done at ``now``, in nanoseconds."""

    def __init__(self, after_ns: int) -> None:
        self._after_ns = after_ns
        self._pods: dict[str, TakenPod] = {}
        self._on: defaultdict[str, set[str]] = defaultdict(set)
        """The pods of each node whose gate is open, by UID."""
        self._heard: dict[str, int] = {}
        self._synced_ns: int | None = None
        self._asked: dict[str, int | None] = {}
        """Pods for which ``due`` returned a ``Close``, and when to try again; None while the answer is awaited."""

    def synced(self, is_synced: bool, now: int) -> None:
        """Whether pods and Leases are known and their changes arrive."""
        self._heard.clear()
        self._asked.clear()
        self._synced_ns = now if is_synced else None

    def renewed(self, node: str, now: int) -> None:
        """The Lease of a node's agent is there, or has changed."""
        self._heard[node] = now

    def unknown(self, node: str) -> None:
        """The Lease of a node's agent was deleted, perhaps with the node. This is no news about the agent."""
        if node not in self._on:
            self._heard.pop(node, None)

    def pod(self, uid: str, pod: TakenPod | None, now: int) -> None:
        """A pod is like this now; None: it is gone or over."""
        before = self._pods.pop(uid, None)
        if before is not None:
            self._on[before.node].discard(uid)
            if not self._on[before.node]:
                del self._on[before.node]
        if pod is None:
            self._asked.pop(uid, None)
            return
        self._pods[uid] = pod
        if not pod.ready:
            self._asked.pop(uid, None)
            return
        self._on[pod.node].add(uid)
        if before is not None and not before.ready:
            self._heard[pod.node] = now

    def wrote(self, uid: str, has_succeeded: bool, now: int) -> None:
        """The answer to ``Close``. After a success the change of the pod says the rest."""
        if uid in self._asked:
            self._asked[uid] = None if has_succeeded else now + AGAIN_NS

    def due(self, now: int) -> list[Close]:
        """The gates that close now."""
        closes = []
        for node, silent_ns in self._silent(now):
            for uid in sorted(self._on[node]):
                again_ns = self._asked.get(uid, now)
                if again_ns is not None and again_ns <= now:
                    self._asked[uid] = None
                    closes.append(Close(self._pods[uid], silent_ns))
        return closes

    def deadline(self, now: int) -> int | None:
        """When there is something to do without a change; None if there is not."""
        if self._synced_ns is None:
            return None
        silent = dict(self._silent(now))
        moments = [self._since(node) + self._after_ns for node in self._on if node not in silent]
        for node in silent:
            asked = (self._asked.get(uid, now) for uid in self._on[node])
            moments += [again for again in asked if again is not None]
        return max(now, min(moments)) if moments else None

    def _silent(self, now: int) -> Iterable[tuple[str, int]]:
        if self._synced_ns is None:
            return
        for node in list(self._on):
            silent_ns = now - self._since(node)
            if silent_ns >= self._after_ns:
                yield node, silent_ns

    def _since(self, node: str) -> int:
        assert self._synced_ns is not None
        return self._heard.get(node, self._synced_ns)
