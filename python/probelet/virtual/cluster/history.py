"""Gathers the history of a cluster from its parts."""

from typing import Any

import msgspec

from probelet.policy.rules.kind import containers
from probelet.spec.model.probe import ProbeType
from probelet.spec.text.duration import MILLISECOND, SECOND
from probelet.virtual.cluster.controllers.endpoints import Service
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.record import Attempt, History, LoadStep, PodRecord, ProbeRecord, Requests, ServiceRecord
from probelet.virtual.cluster.state import ClusterState


class _Counts(msgspec.Struct):
    """The requests of a Service as the model has them."""

    offered: float
    served: float
    late: float
    lost: float
    lost_by: dict[str, float]
    width_ns: int
    steps: list[tuple[float, float, float]]


class _Probe(msgspec.Struct):
    """A probe as the model has it."""

    uid: str
    container: str
    type: ProbeType
    made: int
    failed: int
    attempts: list[tuple[int, int, Any, str, str]]


def history(state: ClusterState, seed: int) -> History:
    """All that a cluster has seen so far."""
    probes: dict[str, list[_Probe]] = {}
    for probe in msgspec.json.decode(state.model.attempts(), type=list[_Probe]):
        probes.setdefault(probe.uid, []).append(probe)
    services = state.endpoints.services.values()
    return History(
        seed,
        state.now / SECOND,
        [_pod(pod, probes.get(pod.uid, []), state.now) for pod in state.pods.values()],
        [_service(state, service) for service in services if service.number is not None],
        sorted(state.writer.events, key=lambda event: event.at),
        state.writer.dropped,
        list(state.writer.faults),
        list(state.writer.kills),
        list(state.writer.exits),
    )


def requests(state: ClusterState, service: Service) -> Requests:
    """The requests of a Service so far."""
    return Requests() if service.number is None else _totals(_counts(state, service.number))


def _counts(state: ClusterState, number: int) -> _Counts:
    return msgspec.json.decode(state.model.requests(state.now, number), type=_Counts)


def _totals(counts: _Counts) -> Requests:
    return Requests(counts.offered, counts.served, counts.late, counts.lost, counts.lost_by)


def _service(state: ClusterState, service: Service) -> ServiceRecord:
    assert service.number is not None, "it has traffic"
    assert service.traffic is not None, "it has traffic"
    counts, now = _counts(state, service.number), state.now
    load = []
    for index, (offered, served, late) in enumerate(counts.steps):
        start, end = index * counts.width_ns, min((index + 1) * counts.width_ns, now)
        length = (end - start) / SECOND
        if length > 0:
            rates = (offered / length, served / length, late / length, (offered - served) / length)
            load.append(LoadStep(start / SECOND, end / SECOND, *rates))
    traffic = service.traffic
    return ServiceRecord(
        service.name,
        service.workload,
        traffic.timeout_ns / SECOND,
        traffic.slo_ns / SECOND,
        _totals(counts),
        load,
        list(service.counts),
        list(service.wanted),
    )


def _pod(pod: ClusterPod, probes: list[_Probe], now: int) -> PodRecord:
    return PodRecord(
        pod.name,
        pod.workload,
        pod.node,
        pod.version,
        pod.spans(now),
        pod.restarts,
        list(pod.kills),
        list(pod.exits),
        [_probe(pod, probe) for probe in probes],
    )


def _probe(pod: ClusterPod, found: _Probe) -> ProbeRecord:
    container = next(each for _, each in containers(pod.pod) if each.name == found.container)
    probe = container.probes[found.type]
    attempts = [
        Attempt(_seconds(at_ns), _seconds(took_ns), outcome, cause, why)
        for at_ns, took_ns, outcome, cause, why in found.attempts
    ]
    return ProbeRecord(
        found.container,
        found.type,
        probe.timeout_seconds,
        probe.period_seconds,
        probe.failure_threshold,
        attempts,
        found.made,
        found.failed,
    )


def _seconds(ns: int) -> float:
    """Seconds with three decimals."""
    return ns // MILLISECOND / 1_000
