"""The incidents of a cluster: what it has seen so far, told to the detector that nodes and agents use."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, TypeAlias

import msgspec

from probelet.policy.incidents import (
    Exited,
    IncidentDetector,
    Input,
    Killed,
    Output,
    Passed,
    ProbeGone,
    ProbeKey,
    ProbeKnown,
    RolledOut,
    Turn,
    telling,
)
from probelet.policy.rules.kind import containers
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.cluster.duration import nanoseconds
from probelet.virtual.cluster.fault import ProberStarved
from probelet.virtual.cluster.node.pod import ClusterPod
from probelet.virtual.cluster.state import ClusterState
from probelet.virtual.cluster.subjects import detector_name, pod_subjects

Timed: TypeAlias = tuple[int, Input]
"""When, in milliseconds since t = 0, and what."""


class _Probe(msgspec.Struct):
    """A probe as the model has it."""

    uid: str
    container: str
    type: str
    attempts: list[tuple[int, int, str, str, str]]


def incidents(state: ClusterState, *, named: bool = True) -> list[tuple[float, Output]]:
    """Everything that the detector says about what has happened so far, with its time in seconds, in order."""
    detector = IncidentDetector()
    found: list[tuple[float, Output]] = []
    end = state.now // MILLISECOND
    for at, given in [*sorted(inputs(state, named=named), key=itemgetter(0)), (end, Passed())]:
        for said_ms, output in detector.play(at, given):
            found.append((said_ms / 1_000, output))
    return found


def incident_line(at: float, output: Output) -> tuple[float, str, str] | None:
    """The line of a timeline about something that the detector said: time, subject, text. None for mere growth."""
    said = telling(output)
    return None if said is None else (at, f"incident {output.incident.id}", said)


def inputs(state: ClusterState, *, named: bool = True) -> Iterator[Timed]:
    """The detector's inputs; those of one moment are in order. ``named``: whether it is known what probes ask."""
    versions: set[tuple[str, int]] = set()
    for pod in state.pods.values():
        version = pod.workload, pod.version
        yield from _appears(state, pod, named=named, is_first=version not in versions)
        versions.add(version)
    for pod in state.pods.values():
        yield from _ends(state, pod)
    late = _Lateness(state)
    for probe in msgspec.json.decode(state.model.attempts(), type=list[_Probe]):
        node = state.pods[probe.uid].node
        for began_ns, took_ns, outcome, cause, why in probe.attempts:
            late_ms = late.at(node, began_ns)
            # The model's clock has milliseconds; an attempt that ends with another's begin comes first.
            ended = (began_ns + took_ns) // MILLISECOND
            good = outcome == "success"
            yield ended, Turn(probe.uid, probe.container, probe.type, ended, good, cause, late_ms, late_ms, why)


def _appears(state: ClusterState, pod: ClusterPod, *, named: bool, is_first: bool) -> Iterator[Timed]:
    """A pod's probes, and the rollout that it is the first pod of. ``is_first``: of its version."""
    workload = state.workloads[pod.workload]
    created = round(pod.spans(state.now)[0].start * 1_000)
    if pod.version > 1 and is_first:
        image = next((each.image for _, each in containers(pod.pod)), "")
        yield created, RolledOut(pod.pod.metadata.namespace, detector_name(workload), image)
    for subject in pod_subjects(workload, pod, named=named):
        yield created, ProbeKnown(subject)


def _ends(state: ClusterState, pod: ClusterPod) -> Iterator[Timed]:
    """The kills of a pod's containers, their own ends, and the pod's deletion."""
    deleted = next((span.start for span in pod.spans(state.now) if span.state in ("terminating", "gone")), None)
    for kill in pod.kills:
        yield round(kill.at * 1_000), Killed(pod.uid, kill.container, round(kill.at * 1_000))
    last: dict[str, float] = {}
    for exited in pod.exits:
        since = last.get(exited.container, -1.0)
        last[exited.container] = exited.at
        was_killed = any(kill.container == exited.container and since < kill.at <= exited.at for kill in pod.kills)
        if not was_killed and (deleted is None or exited.at < deleted):
            yield round(exited.at * 1_000), Exited(pod.uid, exited.container, round(exited.at * 1_000))
    if deleted is not None:
        for _, container in containers(pod.pod):
            for probe_type in container.probes:
                yield round(deleted * 1_000), ProbeGone(ProbeKey(pod.uid, container.name, probe_type))


class _Lateness:
    """How late each node's prober was, which it measures on every attempt."""

    def __init__(self, state: ClusterState) -> None:
        self._spans: list[tuple[Any, int, int | None]] = [
            each for each in state.writer.planned if isinstance(each[0], ProberStarved)
        ]

    def at(self, node: str, moment_ns: int) -> float:
        """Milliseconds."""
        found = [
            nanoseconds("late", fault.late)
            for fault, start, end in self._spans
            if fault.node in (node, "*") and start <= moment_ns and (end is None or moment_ns < end)
        ]
        return max(found, default=0) / MILLISECOND
