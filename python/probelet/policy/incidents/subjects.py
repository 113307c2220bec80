"""The probes of a pod as the detector of incidents knows them: live and in a simulation the same."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from probelet.policy.incidents.inputs import Subject
from probelet.spec.annotation.depends_on import depends_on
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe, ProbeType

Asks: TypeAlias = Callable[[Container, ProbeType, Probe], tuple[str, ...]]
"""Returns what a probe asks beyond its own container."""

CommandReader: TypeAlias = Callable[[Container, list[str]], tuple[str, ...]]
"""Returns the hosts that the command of an exec probe asks, as far as its words show them."""

TEMPLATE_HASH: Final = "pod-template-hash"
REVISIONS: Final[tuple[str, ...]] = (TEMPLATE_HASH, "controller-revision-hash")
"""The labels in which a Deployment's, a StatefulSet's and a DaemonSet's pods have the version of their template."""


def subjects(pod: Pod, node: str, workload: str, asks: Asks) -> Iterator[Subject]:
    """One for each probe of a pod on ``node``. ``workload`` is ``Kind/name``, empty for a pod that nothing manages."""
    meta = pod.metadata
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        for probe_type, probe in container.probes.items():
            yield Subject(
                meta.uid,
                meta.namespace,
                meta.name,
                container.name,
                probe_type,
                node,
                workload=workload,
                image=container.image,
                targets=asks(container, probe_type, probe),
                period_ms=probe.period_seconds * 1_000,
                timeout_ms=probe.timeout_seconds * 1_000,
                failure_threshold=probe.failure_threshold,
            )


def asks_of(pod: Pod, read_command: CommandReader) -> Asks:
    """Returns a reader of targets: the names of the pod's annotation, and the host in the probe or in its command."""
    declared, _ = depends_on(pod)

    def asks(container: Container, probe_type: ProbeType, probe: Probe) -> tuple[str, ...]:
        found = dict.fromkeys(declared)
        action = probe.http_get or probe.tcp_socket
        if probe.exec is not None:
            found.update(dict.fromkeys(read_command(container, probe.exec.command)))
        elif action is not None and action.host:
            found[f"{action.host}:{container.numbered(action.port)}"] = None
        return tuple(found)

    return asks


def workload_of(pod: Pod) -> str:
    """``Kind/name`` of what manages a pod, by its owner; empty for a pod without one. The ReplicaSet of a Deployment
    and the Job of a CronJob stand for these: their own names end when the next version comes."""
    meta = pod.metadata
    owner = next((each for each in meta.owner_references if each.controller), None)
    return "" if owner is None else workload_by(owner.kind, owner.name, meta.labels)


def workload_by(kind: str, owner: str, labels: Mapping[str, str]) -> str:
    """``Kind/name`` of what manages a pod with these labels, by its owner's kind and name."""
    name, _, end = owner.rpartition("-")
    if kind == "ReplicaSet" and name and end == labels.get(TEMPLATE_HASH):
        return f"Deployment/{name}"
    if kind == "Job" and name and end.isdecimal() and len(end) >= SCHEDULE_DIGITS:
        return f"CronJob/{name}"
    return f"{kind}/{owner}"


SCHEDULE_DIGITS: Final = 8
"""A CronJob names its Jobs by the scheduled time in minutes since 1970, which has had eight digits since 1989
(cronjob/utils.go:getJobName, 1.36)."""


def revision_of(pod: Pod) -> str:
    """The version of the template that a pod was made from; empty if no label says it."""
    return revision_in(pod.metadata.labels)


def revision_in(labels: Mapping[str, str]) -> str:
    """The same, from a pod's labels."""
    return next((labels[label] for label in REVISIONS if label in labels), "")
