"""The cluster, as far as NodePodProbes, pods, nodes and requests show it: changes in, what the detector needs out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, TypeAlias

from probelet.beside.guard.objects.node_probes import PUBLISHED_NS, NodeProbes, PodProbes, ProbeState
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.protocol.inputs import NodeChanged, PodChanged, ProbesChanged, RequestChanged
from probelet.beside.incidents.node import NodeSeen
from probelet.beside.incidents.noticed import Ended, Forgotten, Known, Noticed, Restarting
from probelet.beside.incidents.pod import subjects_of
from probelet.policy.incidents import Turn
from probelet.policy.incidents.subjects import CommandReader, revision_in
from probelet.spec.text.duration import MILLISECOND

TURNS_MAX: Final = 10
"""The failed attempts in a row that a state stands for; the detector waits for no more."""

PODS_MAX: Final = 20_000
"""Pods that the detector gets; of other pods the pages have the states alone."""

OLD_MS: Final = 600_000
"""A failure that is older by the node's clock than this, or from the future, has the time at which it was heard."""

Change: TypeAlias = PodChanged | NodeChanged | ProbesChanged | RequestChanged


@dataclass(slots=True, eq=False)
class _Seen:
    """A pod that the detector knows."""

    pod: GuardedPod
    probes: PodProbes
    runs: dict[str, int] = field(default_factory=dict)
    """The failed attempts in a row that the detector has got, of each container that fails."""
    alone_ms: int = 0
    """Until when nothing counts against it alone (law 3)."""
    is_waiting: bool = False
    restarted: list[str] = field(default_factory=list)
    """The containers whose restart the detector gets then."""


class ClusterIncidents:
    """``handle`` takes a change, ``beat`` the end of a beat; both return what follows. ``heartbeat_ms``: how often a
    node writes a probe whose state is Failed, at least."""

    def __init__(self, read_command: CommandReader, heartbeat_ms: int) -> None:
        self.nodes: dict[str, NodeSeen] = {}
        """Those with probes of ours."""
        self._read_command = read_command
        self._silent_ms = 2 * heartbeat_ms + 30_000
        self._pods: dict[str, GuardedPod] = {}
        self._seen: dict[str, _Seen] = {}
        self._not_ready: set[str] = set()
        # When the detector gets the rest about a pod that waits, and its UID.
        self._waiting: list[tuple[int, str]] = []
        # Pods with an open request: UID -> its key.
        self._requested: dict[str, tuple[str, str]] = {}

    @property
    def pods(self) -> int:
        """The pods with enhanced liveness."""
        return len(self._pods)

    @property
    def watched(self) -> int:
        """The pods that the detector knows."""
        return len(self._seen)

    def handle(self, now_ms: int, change: Change) -> list[Noticed]:
        """Takes a change at a time in Unix milliseconds."""
        match change:
            case PodChanged(uid, pod):
                return list(self._pod_changed(uid, pod, now_ms))
            case ProbesChanged(node, probes):
                return list(self._probes_changed(node, probes, now_ms))
            case NodeChanged(name, node):
                return list(self._node_changed(name, node is None or node.is_ready, now_ms))
            case RequestChanged():
                return list(self._request_changed(change))

    @property
    def next_deadline_ms(self) -> int | None:
        """When ``passed`` wants to be called; None: not before the next change."""
        return self._waiting[0][0] if self._waiting else None

    def passed(self, now_ms: int) -> list[Noticed]:
        """Time has passed."""
        found: list[Noticed] = []
        while self._waiting and self._waiting[0][0] <= now_ms:
            _, uid = heappop(self._waiting)
            seen = self._seen.get(uid)
            if seen is None or not seen.is_waiting:
                continue
            seen.is_waiting = False
            turns = [turn for probe in seen.probes.probes for turn in _turns(seen, probe, probe, now_ms)]
            found += [Ended(turns)] if turns else []
            found += [Restarting(uid, container) for container in seen.restarted]
            seen.restarted.clear()
        return found

    def beat(self, now_ms: int) -> list[Noticed]:
        """A beat of every node is over."""
        found: list[Noticed] = []
        for seen in self.nodes.values():
            if seen.failed and not seen.is_silent and now_ms - seen.heard_ms > self._silent_ms:
                seen.is_silent = True
                found += self._forget_all(seen.probes)
                seen.note()
            seen.beat()
        return found

    # Changes.

    def _probes_changed(self, node: str, probes: NodeProbes | None, now_ms: int) -> Iterator[Noticed]:
        seen = self.nodes.get(node)
        before = None if seen is None else seen.probes
        if probes is None or not probes.pods:
            self.nodes.pop(node, None)
            yield from self._forget_all(before)
            return
        if seen is None:
            seen = self.nodes[node] = NodeSeen(node, is_ready=node not in self._not_ready)
        is_news = seen.is_silent
        seen.take(probes, now_ms)
        if not seen.speaks:
            return
        old = before.pods if before is not None and not is_news else {}
        for uid in old.keys() - probes.pods.keys():
            yield from self._forget(uid)
        for uid, pod_probes in probes.pods.items():
            if old.get(uid) != pod_probes:
                yield from self._pod(uid, pod_probes, now_ms)

    def _node_changed(self, name: str, is_ready: bool, now_ms: int) -> Iterator[Noticed]:
        (self._not_ready.discard if is_ready else self._not_ready.add)(name)
        seen = self.nodes.get(name)
        if seen is None or seen.is_ready == is_ready:
            return
        seen.is_ready = is_ready
        seen.note()
        if not is_ready:
            yield from self._forget_all(seen.probes)
        elif seen.speaks and seen.probes is not None:
            for uid, probes in seen.probes.pods.items():
                yield from self._pod(uid, probes, now_ms)

    def _pod_changed(self, uid: str, pod: GuardedPod | None, now_ms: int) -> Iterator[Noticed]:
        self._pods.pop(uid, None)
        if pod is None or not pod.is_active:
            yield from self._forget(uid)
            return
        self._pods[uid] = pod
        node = self.nodes.get(pod.node)
        if node is not None and node.speaks and node.probes is not None and uid in node.probes.pods:
            yield from self._pod(uid, node.probes.pods[uid], now_ms)

    def _request_changed(self, change: RequestChanged) -> Iterator[Noticed]:
        request = change.request
        if request is None or request.is_completed:
            for uid in [uid for uid, key in self._requested.items() if key == change.key]:
                del self._requested[uid]
            return
        if request.pod_uid and self._requested.get(request.pod_uid) != change.key:
            self._requested[request.pod_uid] = change.key
            seen = self._seen.get(request.pod_uid)
            if request.is_ours and seen is not None:
                containers = [container.name for container in request.containers]
                if seen.is_waiting:
                    seen.restarted += containers
                else:
                    yield from (Restarting(request.pod_uid, container) for container in containers)

    # Pods.

    def _pod(self, uid: str, probes: PodProbes, now_ms: int) -> Iterator[Noticed]:
        pod = self._pods.get(uid)
        if pod is None:
            return
        seen = self._seen.get(uid)
        if seen is None:
            if len(self._seen) >= PODS_MAX:
                return
            seen = self._seen[uid] = _Seen(pod, PodProbes(probes.namespace, probes.name, uid, ()))
        if seen.pod is not pod or list(map(_asked, seen.probes.probes)) != list(map(_asked, probes.probes)):
            yield Known(subjects_of(pod, probes, self._read_command), revision_in(pod.labels))
        old = {probe.container: probe for probe in seen.probes.probes}
        seen.pod, seen.probes = pod, probes
        turns = [turn for probe in probes.probes for turn in _turns(seen, old.get(probe.container), probe, now_ms)]
        if turns:
            yield Ended(turns)
        if seen.alone_ms > now_ms and not seen.is_waiting:
            seen.is_waiting = True
            heappush(self._waiting, (seen.alone_ms, uid))

    def _forget(self, uid: str) -> Iterator[Noticed]:
        if self._seen.pop(uid, None) is not None:
            yield Forgotten(uid)

    def _forget_all(self, probes: NodeProbes | None) -> list[Noticed]:
        uids = () if probes is None else probes.pods
        return [noticed for uid in uids for noticed in self._forget(uid)]


def _asked(probe: ProbeState) -> tuple[str, int, int, int]:
    return probe.container, probe.period_seconds, probe.timeout_seconds, probe.failure_threshold


def _turns(seen: _Seen, before: ProbeState | None, probe: ProbeState, now_ms: int) -> Iterator[Turn]:
    """The attempts that a new state stands for (law 1)."""
    told = seen.runs.get(probe.container, 0)
    if not probe.is_failing:
        seen.runs.pop(probe.container, None)
        is_news = before is None or before.is_failing or before.state == "Unknown"
        if probe.state == "Succeeded" and is_news:
            yield _turn(seen.pod, probe, now_ms)
        return
    if not seen.runs:
        seen.alone_ms = now_ms + probe.period_seconds * 1_000 + PUBLISHED_NS // MILLISECOND
    run = 1
    if probe.state == "Failed" and now_ms >= seen.alone_ms:
        is_again = before is not None and before.state == "Failed" and probe.probed_ns > before.probed_ns
        run = max(min(TURNS_MAX, probe.failure_threshold), told + is_again)
    seen.runs[probe.container] = max(told, run)
    for _ in range(max(0, run - told)):
        yield _turn(seen.pod, probe, now_ms)


def _turn(pod: GuardedPod, probe: ProbeState, now_ms: int) -> Turn:
    at_ms = probe.probed_ns // MILLISECOND
    if not now_ms - OLD_MS <= at_ms <= now_ms:
        at_ms = now_ms
    return Turn(
        pod.uid,
        probe.container,
        "liveness",
        at_ms,
        is_good=not probe.is_failing,
        cause=probe.cause or "ok",
        lateness_ms=0.0,
        overdue_ms=0.0,
        message="",
    )
