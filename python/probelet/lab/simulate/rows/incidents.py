"""The incidents of a play as rows of the document."""

from collections.abc import Iterable

from probelet.lab.picture.document import INCIDENTS_MAX, IncidentRow
from probelet.lab.simulate.verdict import rounded
from probelet.policy.incidents import Ended, Incident, Output

Said = tuple[float, Output]
"""An output of the detector, and its time."""


def incidents(said: Iterable[Said], began: float) -> list[IncidentRow]:
    """Each incident as the detector put it out last, but for incidents that were over before the traffic began."""
    first: dict[str, float] = {}
    last: dict[str, Incident] = {}
    for at, output in said:
        incident = output.incident
        if isinstance(output, Ended) and incident.merged_into:
            last.pop(incident.id, None)
            continue
        first.setdefault(incident.id, at)
        last[incident.id] = incident
    found = [_row(first[name], incident) for name, incident in last.items()]
    found = [row for row in found if row["to_seconds"] is None or row["to_seconds"] >= began]
    largest = sorted(found, key=lambda row: (-row["pods"], row["from_seconds"]))[:INCIDENTS_MAX]
    return sorted(largest, key=lambda row: row["from_seconds"])


def _row(said: float, incident: Incident) -> IncidentRow:
    counts = incident.counts
    return IncidentRow(
        id=incident.id,
        kind=incident.kind,
        from_seconds=rounded(incident.since_ms / 1_000),
        said_seconds=rounded(said),
        to_seconds=None if incident.ended_ms is None else rounded(incident.ended_ms / 1_000),
        shared=incident.shared,
        value=incident.value,
        cause=incident.cause,
        evidence=incident.evidence,
        pods=counts.pods,
        containers=counts.containers,
        probes=counts.probes,
        workloads=counts.workloads,
        nodes=counts.nodes,
        killed=incident.killed,
        killed_for_nothing=incident.killed_for_nothing,
        affected=list(incident.affected),
    )
