"""Incidents, and the liveness kills that wait for their end, as documents and as metrics."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import get_args

from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.timestamp import rfc3339
from probelet.policy.incidents import Incident, Kind
from probelet.policy.incidents.hold import Held, HoldEnd
from probelet.policy.node.kill_gate import KillGate
from probelet.server.document.incident import IncidentDocument
from probelet.server.document.status import HeldDocument

KINDS: tuple[Kind, ...] = get_args(Kind)

HOLD_ENDS: tuple[HoldEnd, ...] = get_args(HoldEnd)


def incident_document(incident: Incident) -> IncidentDocument:
    """One incident."""
    counts = incident.counts
    found: IncidentDocument = {
        "id": incident.id,
        "kind": incident.kind,
        "since": rfc3339(incident.since_ms),
        "ended": None if incident.ended_ms is None else rfc3339(incident.ended_ms),
        "shared": incident.shared,
        "value": incident.value,
        "cause": incident.cause,
        "evidence": incident.evidence,
        "counts": {
            "pods": counts.pods,
            "containers": counts.containers,
            "probes": counts.probes,
            "workloads": counts.workloads,
            "nodes": counts.nodes,
        },
        "killed": incident.killed,
        "killed_for_nothing": incident.killed_for_nothing,
        "affected": list(incident.affected),
    }
    if incident.merged_into:
        found["merged_into"] = incident.merged_into
    return found


def render_incidents(total: Mapping[Kind, int], open: Iterable[Incident]) -> bytes:
    """The series of incidents on the page ``/metrics``. No name is a label: an incident's name may be anything."""
    now = Counter(incident.kind for incident in open)
    return page(
        counter(
            "probelet_incidents_total",
            "Incidents that began, by kind; one that turned out to be of another kind counts in both.",
            ((kind, total.get(kind, 0)) for kind in KINDS),
            "kind",
        ),
        gauge(
            "probelet_incident_open",
            "Incidents that are open, by kind.",
            ((kind, now[kind]) for kind in KINDS),
            "kind",
        ),
    )


def held_document(held: Held, wall: Callable[[int], str]) -> HeldDocument:
    """One kill; ``wall`` writes a time of the engine's clock."""
    return {
        "incident": held.incident,
        "what": held.what,
        "since": wall(held.since_ns),
        "until": wall(held.until_ns),
    }


def render_held(gate: KillGate) -> bytes:
    """The series of kills that wait on the page ``/metrics``."""
    return page(
        gauge("probelet_kills_held", "Liveness kills that wait for the end of an incident.", gate.count),
        counter(
            "probelet_kills_held_total",
            "Liveness kills that have waited, by how that ended: the container answered, was killed, or is gone.",
            ((end, gate.ended.get(end, 0)) for end in HOLD_ENDS),
            "end",
        ),
    )
