"""The mapping as a machine: objects change, and NodePodProbes are read and written.

Laws

1. A node has at most one read or write under way. What changes meanwhile makes one further round (M-1).
2. A round reads the object, merges, and writes only what differs. Any failure makes the round begin anew: a conflict
   at once, ``CONFLICTS_MAX`` times, everything else after a growing delay.
3. At most ``ROUNDS_MAX`` nodes are in a round; the others wait in the order in which they changed.
4. Without ``Synced`` no round begins and nothing is written: a pod that is not known yet would lose its entry, and with
   it its state and the digest of its command. A round that reads meanwhile begins anew.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from probelet._rust import Backoff
from probelet.beside.guard.mapping.entry import Reason
from probelet.beside.guard.mapping.merge import Merged, MergeOptions, merge
from probelet.beside.guard.mapping.protocol import (
    Configured,
    GotProbes,
    Input,
    NodeChanged,
    Output,
    PodChanged,
    PodEvent,
    ProbesChanged,
    Read,
    Resync,
    Synced,
    Write,
    Wrote,
)
from probelet.beside.guard.objects.pod import GuardedPod

ROUNDS_MAX: Final = 10
"""Nodes that are read and written at the same time: the workers of OpenKruise's controller (pull request 1544)."""
CONFLICTS_MAX: Final = 5
"""Rounds in a row that begin at once after a conflict (M-7)."""
RETRY_NS: Final = 1_000_000_000
RETRY_MAX_NS: Final = 60_000_000_000
"""The first and the longest delay after a round that failed."""


@dataclass(slots=True)
class _Round:
    """A node that is read or written."""

    conflicts: int = 0
    merged: Merged | None = None


@dataclass(slots=True)
class _Reported:
    """The events of one pod that were written already."""

    is_mapped: bool | None = None
    """None until the NodePodProbe was read: a pod that another leader mapped gets no second event."""
    problems: set[tuple[Reason, str]] = field(default_factory=set)


class Mapper:
    """The mapping of a cluster. ``options`` are fixed; ``Configured`` switches all probing off and on."""

    def __init__(self, options: MergeOptions | None = None) -> None:
        self._options = options or MergeOptions()
        self._detects = True
        self._is_synced = False
        self._pods: dict[str, GuardedPod] = {}
        self._by_node: defaultdict[str, set[str]] = defaultdict(set)
        self._virtual: set[str] = set()
        self._generations: dict[str, int] = {}
        """The generation of each NodePodProbe that exists, as last written or seen."""
        self._dirty: dict[str, None] = {}
        self._rounds: dict[str, _Round] = {}
        self._backoff = Backoff(initial_ns=RETRY_NS, max_ns=RETRY_MAX_NS, reset_ns=10 * RETRY_MAX_NS)
        self._reported: defaultdict[str, _Reported] = defaultdict(_Reported)
        self._outputs: list[Output] = []

    def handle(self, now: int, change: Input | None = None) -> list[Output]:
        """Takes in a change; without one, does what is due at ``now``."""
        match change:
            case PodChanged():
                self._pod(change)
            case ProbesChanged():
                self._probes(change)
            case NodeChanged():
                self._node(change)
            case GotProbes():
                self._got(change)
            case Wrote():
                self._wrote(change, now)
            case Configured():
                if change.detects != self._detects:
                    self._detects = change.detects
                    self._all_dirty()
            case Resync():
                self._all_dirty()
            case Synced():
                self._is_synced = change.is_synced
            case None:
                pass
        self._begin(now)
        outputs, self._outputs = self._outputs, []
        return outputs

    @property
    def is_idle(self) -> bool:
        """Whether every NodePodProbe is as it should be, as far as the machine knows."""
        return not self._dirty and not self._rounds

    def deadline(self, now: int) -> int | None:
        """When the machine has something to do without a change; None if it has not."""
        if not self._is_synced or len(self._rounds) >= ROUNDS_MAX:
            return None
        return min((self._due(node, now) for node in self._dirty if node not in self._rounds), default=None)

    # Changes.

    def _pod(self, change: PodChanged) -> None:
        before, pod = self._pods.get(change.uid), change.pod
        if pod is None:
            self._pods.pop(change.uid, None)
            self._reported.pop(change.uid, None)
        else:
            self._pods[change.uid] = pod
        if before is not None and pod is not None and _mapped_part(before) == _mapped_part(pod):
            return
        for each in (before, pod):
            if each is not None and each.node:
                self._dirty[each.node] = None
        if before is not None and before.node:
            self._by_node[before.node].discard(change.uid)
            if not self._by_node[before.node]:
                del self._by_node[before.node]
        if pod is not None and pod.node:
            self._by_node[pod.node].add(change.uid)
        if before is not None and pod is not None and before.context != pod.context:
            self._reported[change.uid] = _Reported(is_mapped=False)

    def _probes(self, change: ProbesChanged) -> None:
        if change.generation is None:
            if self._generations.pop(change.node, None) is not None:
                self._dirty[change.node] = None
        elif self._generations.get(change.node) != change.generation:
            self._generations[change.node] = change.generation
            self._dirty[change.node] = None

    def _node(self, change: NodeChanged) -> None:
        was_virtual = change.name in self._virtual
        if change.node is not None and change.node.is_virtual:
            self._virtual.add(change.name)
        else:
            self._virtual.discard(change.name)
        if change.node is None or was_virtual != (change.name in self._virtual):
            self._dirty[change.name] = None

    def _all_dirty(self) -> None:
        for node in (*self._by_node, *self._generations):
            self._dirty[node] = None

    # Rounds.

    def _due(self, node: str, now: int) -> int:
        waits = self._backoff.retry_due(node, now)
        return now if waits is None else waits[0]

    def _begin(self, now: int) -> None:
        for node in list(self._dirty) if self._is_synced else ():
            if len(self._rounds) >= ROUNDS_MAX:
                return
            if node not in self._rounds and self._due(node, now) <= now:
                self._start(node)

    def _start(self, node: str) -> None:
        self._dirty.pop(node, None)
        if node not in self._generations and not self._wanted(node):
            # There is nothing to write, and nothing to clean up.
            self._report_virtual(node)
            return
        self._rounds[node] = _Round()
        self._outputs.append(Read(node))

    def _wanted(self, node: str) -> list[GuardedPod]:
        if not self._detects or node in self._virtual:
            return []
        pods = (self._pods[uid] for uid in self._by_node.get(node, ()))
        return [pod for pod in pods if pod.is_opted_in and pod.context and pod.is_active]

    def _got(self, change: GotProbes) -> None:
        current = self._rounds.get(change.node)
        if current is None:
            return
        if not self._is_synced:
            del self._rounds[change.node]
            self._dirty[change.node] = None
            return
        self._report_virtual(change.node)
        known = {uid for uid in self._by_node.get(change.node, ()) if self._pods[uid].context}
        self._dirty.pop(change.node, None)
        merged = merge(change.node, change.body, self._wanted(change.node), known, self._options)
        current.merged = merged
        for uid in merged.mapped:
            if self._reported[uid].is_mapped is None:
                self._reported[uid].is_mapped = uid in merged.held
        if change.body is None:
            self._generations.pop(change.node, None)
        else:
            self._generations[change.node] = change.body["metadata"].get("generation", 0)
        if merged.verb == "none":
            self._finish(change.node)
        else:
            self._outputs.append(Write(change.node, merged.verb, merged.body))

    def _wrote(self, change: Wrote, now: int) -> None:
        current = self._rounds.get(change.node)
        if current is None:
            return
        match change.outcome:
            case "done":
                if change.generation is None:
                    self._generations.pop(change.node, None)
                else:
                    self._generations[change.node] = change.generation
                self._finish(change.node)
            case "conflict" if current.conflicts < CONFLICTS_MAX:
                current.conflicts += 1
                self._outputs.append(Read(change.node))
            case _:
                del self._rounds[change.node]
                self._backoff.note_failure(change.node, now)
                self._dirty[change.node] = None

    def _finish(self, node: str) -> None:
        merged = self._rounds.pop(node).merged
        self._backoff.reset(node)
        assert merged is not None
        for uid in sorted(merged.mapped):
            if not self._reported[uid].is_mapped and uid in self._pods:
                self._reported[uid].is_mapped = True
                self._outputs.append(PodEvent(self._pods[uid], "ELPProbeMapped", f"node {node} probes it"))
        for uid, problems in merged.problems.items():
            for problem in problems:
                self._report(uid, problem)

    def _report_virtual(self, node: str) -> None:
        if node in self._virtual:
            for uid in sorted(self._by_node.get(node, ())):
                if self._pods[uid].is_opted_in:
                    self._report(uid, ("ELPUnsupportedNode", f"node {node} is virtual and has no prober"))

    def _report(self, uid: str, problem: tuple[Reason, str]) -> None:
        if uid in self._pods and problem not in self._reported[uid].problems:
            self._reported[uid].problems.add(problem)
            self._outputs.append(PodEvent(self._pods[uid], *problem))


def _mapped_part(pod: GuardedPod) -> tuple[object, ...]:
    """The fields whose change matters here (M-2)."""
    return pod.node, pod.ip, pod.is_opted_in, pod.context, pod.is_active, pod.uid
