"""Documents made by hand: a slow dependency, a bad rollout of many pods, a crash loop, nothing at all."""

from collections.abc import Sequence
from typing import Any

from probelet.lab.picture.document import (
    AdviceRow,
    AttemptsRow,
    FaultRow,
    KillRow,
    PodRow,
    PodState,
    ProbeRow,
    RequestsRow,
    RunRow,
    SeriesRow,
    ServiceRow,
    SimulateDocument,
    SpanRow,
    VerdictRow,
)
from probelet.spec.model.probe import ProbeType

HOSTILE = "default/<script>alert(1)</script>&\"'\x1b[31m\u202e\x00"
"""A name that no API server takes and a file may have."""


def spans(end: float, *states: tuple[PodState, float]) -> list[SpanRow]:
    """States with their beginnings, up to ``end``."""
    ends = [*(at for _, at in states[1:]), end]
    return [SpanRow(state=state, from_seconds=at, to_seconds=to) for (state, at), to in zip(states, ends, strict=True)]


def probe(kind: ProbeType, timeout: float, period: float, rows: Sequence[tuple[float, float, str, str]]) -> ProbeRow:
    """A probe with its attempts: time, duration, outcome, cause."""
    return ProbeRow(
        container="app",
        type=kind,
        timeout_seconds=timeout,
        period_seconds=period,
        failure_threshold=3,
        attempts=AttemptsRow(
            t=[row[0] for row in rows],
            took=[row[1] for row in rows],
            outcome="".join(row[2] for row in rows),
            cause=[row[3] for row in rows],
        ),
        dropped=0,
    )


def answers(
    start: float, end: float, period: float, timeout: float, slow: Sequence[tuple[float, float]]
) -> list[tuple[float, float, str, str]]:
    """Attempts that succeed, and time out within the spans of ``slow``."""
    found = []
    at, n = start, 0
    while at < end:
        n += 1
        is_slow = any(first <= at < last for first, last in slow)
        took = timeout if is_slow else round(0.02 + 0.013 * (n * 7 % 5), 3)
        found.append((round(at, 3), took, "t" if is_slow else "s", "header_timeout" if is_slow else "ok"))
        at += period
    return found


def pod(
    name: str, spans: list[SpanRow], probes: list[ProbeRow], kills: Sequence[tuple[float, ProbeType]] = (), **rest: Any
) -> PodRow:
    """A pod; each kill is followed by an exit with 137."""
    rows: list[KillRow] = [
        {
            "at_seconds": at,
            "container": "app",
            "probe_type": kind,
            "reason_text": f"Container app failed {kind} probe, will be restarted",
        }
        for at, kind in kills
    ]
    made: PodRow = {
        "name": name,
        "workload": "Deployment/default/web",
        "node": "node-1",
        "version": 1,
        "spans": spans,
        "restarts": len(rows),
        "kills": rows,
        "exits": [
            {"at_seconds": row["at_seconds"] + 2, "container": "app", "exit_code": 137, "reason": "Error"}
            for row in rows
        ],
        "probes": probes,
    }
    made.update(rest)  # type: ignore[typeddict-item]
    return made


def requests(offered: int, late: int, lost: int) -> RequestsRow:
    return RequestsRow(offered=offered, served=offered - lost, late=late, lost=lost)


def service(
    points: Sequence[tuple[float, float, float, float, int, int]], totals: RequestsRow, name: str = "default/web"
) -> ServiceRow:
    """A Service by its points: time, offered, late, lost, endpoints, wanted."""
    columns = [list(column) for column in zip(*points, strict=True)] or [[], [], [], [], [], []]
    t, offered, late, lost, endpoints, wanted = columns
    return ServiceRow(
        name=name,
        workload="Deployment/default/web",
        timeout_seconds=2.0,
        slo_seconds=0.5,
        totals=totals,
        series=SeriesRow(
            t=t,
            offered=offered,
            served=[a - b for a, b in zip(offered, lost, strict=True)],
            late=late,
            lost=lost,
            endpoints=[int(n) for n in endpoints],
            wanted=[int(n) for n in wanted],
        ),
    )


def verdict(**rest: Any) -> VerdictRow:
    """A verdict about which nothing is bad but for ``rest``."""
    made: VerdictRow = {
        "recovered": True,
        "recovers_after_seconds": 0.0,
        "first_unready_seconds": None,
        "unready_pods_max": 0,
        "first_kill_seconds": None,
        "kills": 0,
        "restarts": 0,
        "requests": requests(0, 0, 0),
        "longest_outage_seconds": 0.0,
    }
    made.update(rest)  # type: ignore[typeddict-item]
    return made


def document(
    name: str,
    title: str,
    seconds: float,
    faults: list[FaultRow],
    pods: list[PodRow],
    services: list[ServiceRow],
    found: VerdictRow,
    findings: Sequence[str] = (),
    advice: Sequence[AdviceRow] = (),
    text: str = "Every Service gets 300 requests per second.",
) -> SimulateDocument:
    return {
        "schema": "probelet-simulate/1",
        "probelet": "0.9.0",
        "command": f"probelet simulate web.yaml --scenario {name} --seed 7",
        "seed": 7,
        "scenario": {
            "name": name,
            "title": title,
            "text": text,
            "assumed": [],
            "duration_seconds": seconds,
            "faults": faults,
        },
        "manifests": ["web.yaml"],
        "played_seconds": seconds,
        "services": services,
        "pods": pods,
        "events": [
            {"at_seconds": kill["at_seconds"], "pod": row["name"], "reason": "Killing", "message": kill["reason_text"]}
            for row in pods
            for kill in row["kills"]
        ],
        "verdict": found,
        "findings": list(findings),
        "advice": list(advice),
    }


def run_of(made: SimulateDocument, manifests: list[str]) -> RunRow:
    """A document's run, to stand against another one."""
    return RunRow(
        manifests=manifests,
        played_seconds=made["played_seconds"],
        services=made["services"],
        pods=made["pods"],
        events=made["events"],
        verdict=made["verdict"],
        findings=made["findings"],
        advice=made["advice"],
    )
