"""Incidents as documents and as metrics."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import get_args

from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.timestamp import rfc3339
from probelet.policy.incidents import Incident, Kind
from probelet.server.document.incident import IncidentDocument

KINDS: tuple[Kind, ...] = get_args(Kind)


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
