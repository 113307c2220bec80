"""The Services, pods and events of a history as rows of the document."""

from collections.abc import Mapping, Sequence

from probelet.lab.picture.document import (
    ATTEMPTS_MAX,
    EVENTS_MAX,
    POD_ATTEMPTS_MAX,
    EventRow,
    ExitRow,
    FaultRow,
    KillRow,
    PodRow,
    ServiceRow,
    SpanRow,
)
from probelet.lab.simulate.manifests import Workload
from probelet.lab.simulate.rows.attempts import probe_row
from probelet.lab.simulate.rows.series import series
from probelet.lab.simulate.verdict import requests, rounded
from probelet.virtual.cluster import Event, History, PodRecord, ServiceRecord

Workloads = Mapping[str, Workload]
"""The workloads by the names that the cluster gives them."""


def qualified(name: str, namespace: str) -> str:
    """``namespace/name``; the cluster says the namespace only where it must."""
    return name if "/" in name else f"{namespace}/{name}"


def services(history: History, workloads: Workloads) -> list[ServiceRow]:
    """The Services with traffic."""
    return [_service(service, workloads[service.workload], history.now) for service in history.services]


def _service(service: ServiceRecord, workload: Workload, end: float) -> ServiceRow:
    return ServiceRow(
        name=qualified(service.name, workload.namespace),
        workload=workload.object,
        timeout_seconds=service.timeout_seconds,
        slo_seconds=service.slo_seconds,
        totals=requests([service]),
        series=series(service, end),
    )


def pods(history: History, workloads: Workloads) -> list[PodRow]:
    """All pods, by workload and then by creation."""
    order = {name: number for number, name in enumerate(workloads)}
    found = sorted(history.pods, key=lambda pod: order.get(pod.workload, len(order)))
    most = min(POD_ATTEMPTS_MAX, ATTEMPTS_MAX // max(len(found), 1))
    return [_pod(pod, workloads[pod.workload], most) for pod in found]


def _pod(pod: PodRecord, workload: Workload, most: int) -> PodRow:
    each = most // max(len(pod.probes), 1)
    return PodRow(
        name=qualified(pod.name, workload.namespace),
        workload=workload.object,
        node=pod.node,
        version=pod.version,
        spans=[
            SpanRow(state=span.state, from_seconds=rounded(span.start), to_seconds=rounded(span.end))
            for span in pod.spans
        ],
        restarts=pod.restarts,
        kills=[
            KillRow(
                at_seconds=rounded(kill.at),
                container=kill.container,
                probe_type=kill.probe_type,
                reason_text=kill.reason,
            )
            for kill in pod.kills
        ],
        exits=[
            ExitRow(
                at_seconds=rounded(exited.at),
                container=exited.container,
                exit_code=exited.exit_code,
                reason=exited.reason,
            )
            for exited in pod.exits
        ],
        probes=[probe_row(probe, each) for probe in pod.probes],
    )


def events(history: History, workloads: Workloads) -> list[EventRow]:
    """The events of pods."""
    namespaces = {pod.name: workloads[pod.workload].namespace for pod in history.pods}
    found = [event for event in history.events if event.pod]
    return [
        EventRow(
            at_seconds=rounded(event.at),
            pod=qualified(event.pod, namespaces[event.pod]),
            reason=event.reason,
            message=event.message,
        )
        for event in _bounded(found)
    ]


def _bounded(found: Sequence[Event]) -> list[Event]:
    """At most ``EVENTS_MAX`` events: the first of each pod and reason, then the earliest of the others."""
    if len(found) <= EVENTS_MAX:
        return list(found)
    firsts: dict[tuple[str, str], int] = {}
    for index, event in enumerate(found):
        firsts.setdefault((event.pod, event.reason), index)
    kept = sorted(firsts.values())[:EVENTS_MAX]
    others = [index for index in range(len(found)) if index not in set(kept)]
    return [found[index] for index in sorted([*kept, *others[: EVENTS_MAX - len(kept)]])]


def faults(history: History) -> list[FaultRow]:
    """The timetable."""
    rows = [
        FaultRow(
            kind=fault.kind,
            target=fault.target,
            label=fault.label,
            from_seconds=rounded(fault.start),
            to_seconds=None if fault.end is None else rounded(fault.end),
        )
        for fault in history.faults
    ]
    return sorted(rows, key=lambda row: row["from_seconds"])
