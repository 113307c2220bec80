"""The controller's pages (``server.pages.nodes.NodesView``): nodes as rows, the same page as a node's with its pods."""

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlencode

from probelet.base import words
from probelet.base.exposition.timestamp import rfc3339
from probelet.beside.guard.objects.node_probes import ProbeState
from probelet.beside.incidents.cluster import PODS_MAX, ClusterIncidents
from probelet.beside.incidents.node import NodeSeen, bad_first
from probelet.controller.incidents import CLUSTER, IncidentReconciler
from probelet.controller.service import ControllerService
from probelet.host.incidents.watch import IncidentWatch
from probelet.kube.clock import Clock
from probelet.server.document.event import RecordedEvent
from probelet.server.document.nodes import NodeDocument, NodeProbeDocument, NodesDocument
from probelet.server.document.status import StatusHead
from probelet.server.pages.rows import Look, Rank, Row
from probelet.server.pages.source import NODES, Told
from probelet.server.summary import span
from probelet.spec.text.duration import MILLISECOND

NOTES_MAX: Final = 3
"""Failing probes in the row of a node; a click has all."""

DIFFERS: Final = (
    "Liveness probes of enhanced liveness, as the NodePodProbe of each node has them: the state and the last failed "
    "attempt, but no other attempts, no readiness, no container that ends by itself, and not how late a prober was. "
    "The agents' own pages have these."
)


class ControllerView:
    """The content of the pages of one controller."""

    def __init__(self, service: ControllerService, clock: Clock) -> None:
        self._service = service
        self._clock = clock

    def told(self) -> Told:
        """The nodes of this moment."""
        now_ms = self._now()
        incidents = self._incidents
        head: StatusHead = {"node": CLUSTER, "as_of": rfc3339(now_ms)}  # type: ignore[typeddict-item]
        if incidents is None:
            return Told(head, iter(()), NODES, self._notes())
        incidents.watch.tell(head)
        return Told(head, _rows(incidents.cluster, now_ms), NODES, [*self._notes(), DIFFERS])

    @property
    def incidents(self) -> IncidentWatch | None:
        """The incidents of the cluster; None before the first object is asked for."""
        return None if self._incidents is None else self._incidents.watch

    def events(self, since: int) -> Sequence[RecordedEvent]:
        """None: the API server has them."""
        return ()

    def document(self, node: str) -> NodesDocument:
        """The nodes, or one with its probes."""
        incidents, notes = self._incidents, self._notes()
        nodes = {} if incidents is None else incidents.cluster.nodes
        found = [nodes[node]] if node in nodes else [] if node else sorted(nodes.values(), key=lambda seen: seen.name)
        return {
            "schema": "probelet-nodes/1",
            "as_of": rfc3339(self._now()),
            "leads": self._service.why_not_leading is None,
            "notes": notes,
            "nodes": [_node_document(seen, with_states=bool(node)) for seen in found],
        }

    @property
    def _incidents(self) -> IncidentReconciler | None:
        candidate = self._service.candidate
        return None if candidate is None else candidate.incidents

    def _now(self) -> int:
        return self._clock.wall_ns() // MILLISECOND

    def _notes(self) -> list[str]:
        """Sentences about missing objects, a missing leader and pods beyond the limit."""
        why = (self._service.why_not_leading, self._service.why_not_known)
        notes = [f"{each[0].upper()}{each[1:]}." for each in why if each is not None]
        incidents = self._incidents
        if incidents is not None and incidents.cluster.pods > PODS_MAX:
            cluster = incidents.cluster
            notes.append(
                f"The detector of incidents knows {cluster.watched:,} of {cluster.pods:,} pods: more than {PODS_MAX:,} "
                "would need too much memory."
            )
        return notes


def _rows(cluster: ClusterIncidents, now_ms: int) -> Iterator[Row]:
    return (_row(seen, now_ms) for seen in [*cluster.nodes.values()])


def _row(seen: NodeSeen, now_ms: int) -> Row:
    rank, look, says = _judged(seen)
    heard = span((now_ms - seen.heard_ms) / 1_000)
    notes = []
    if not seen.is_ready:
        notes.append(f"the node is not Ready; what it last said, {heard} ago, does not count")
    elif seen.is_silent:
        notes.append(f"the agent is silent: it said {heard} ago that a probe is Failed, and would have said so again")
    elif seen.unknown == seen.total:
        notes.append("no agent has said anything about these probes yet")
    elif seen.failed or seen.failing:
        bad = bad_first(seen)
        notes += [_note(pod, probe) for pod, probe in bad[:NOTES_MAX]]
        if len(bad) > NOTES_MAX:
            notes.append(f"and {len(bad) - NOTES_MAX} more")
    return {
        "uid": seen.name,
        "namespace": "",
        "name": seen.name,
        "ip": "",
        "rank": rank,
        "look": look,
        "says": says,
        "notes": notes,
        "detail": urlencode({"node": seen.name}),
        "containers": [
            {
                "name": "",
                "kind": "",
                "look": "good",
                "says": "",
                "restarts": "",
                "probes": [{"type": "liveness", "look": look, "says": _counted(seen), "beats": seen.beats + seen.now}],
            }
        ],
    }


def _judged(seen: NodeSeen) -> tuple[Rank, Look, str]:
    if not seen.is_ready:
        return 1, "warn", "not Ready"
    if seen.is_silent:
        return 1, "warn", "silent"
    if seen.failed:
        return 0, "bad", "failed"
    if seen.failing:
        return 1, "warn", "failing"
    if seen.unknown == seen.total:
        return 2, "", "unknown"
    return (2 if "!" in seen.beats or "~" in seen.beats else 3), "good", "well"


def _counted(seen: NodeSeen) -> str:
    parts = [
        text
        for count, text in (
            (seen.failed, f"{seen.failed} Failed"),
            (seen.failing, f"{seen.failing} failing"),
            (seen.unknown, f"{seen.unknown} unknown"),
        )
        if count
    ]
    return f"{words.count(seen.total, 'probe')}{': ' if parts else ''}{', '.join(parts)}"


def _note(pod: str, probe: ProbeState) -> str:
    text = f": {probe.message}" if probe.message else ""
    return f"{pod} {probe.container}: {probe.state if probe.state == 'Failed' else 'failing'} ({probe.cause}){text}"


def _node_document(seen: NodeSeen, *, with_states: bool) -> NodeDocument:
    found: NodeDocument = {
        "name": seen.name,
        "ready": seen.is_ready,
        "silent": seen.is_silent,
        "heard": rfc3339(seen.heard_ms),
        "probes": seen.total,
        "failed": seen.failed,
        "failing": seen.failing,
        "unknown": seen.unknown,
        "beats": seen.beats + seen.now,
    }
    if with_states and seen.probes is not None:
        found["states"] = [
            _probe_document(f"{pod.namespace}/{pod.name}", probe)
            for pod in seen.probes.pods.values()
            for probe in pod.probes
        ]
    return found


def _probe_document(pod: str, probe: ProbeState) -> NodeProbeDocument:
    return {
        "pod": pod,
        "container": probe.container,
        "state": probe.state,
        "failing": probe.is_failing,
        "cause": probe.cause,
        "since": _moment(probe.since_ns),
        "probed": _moment(probe.probed_ns),
        "message": probe.message,
    }


def _moment(ns: int) -> str | None:
    return rfc3339(ns // MILLISECOND) if ns else None
