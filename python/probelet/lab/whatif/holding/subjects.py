"""Subjects for the detector of incidents, from recorded pods.

A recording has no workloads, targets and annotations, and an old one no images. A manifest of the pod says them.
Without one the workload is taken from the pod's name, as controllers make names, and nobody knows what its probes ask.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from probelet.host.incidents.watch import TURNS_OF_A_RUN
from probelet.lab.recording import RecordedPod
from probelet.lab.whatif.manifests import is_of
from probelet.policy.incidents import Subject
from probelet.policy.incidents.subjects import CommandReader, asks_of
from probelet.policy.rules.kind import containers
from probelet.spec.annotation.hold_kills import HoldChoice, hold_choice
from probelet.spec.read.load import Manifest

_SAFE: Final = "[bcdfghjklmnpqrstvwxz2456789]"
"""The letters of names that are made up (k8s.io/apimachinery/pkg/util/rand/rand.go:alphanums, 1.36)."""
_REPLICA: Final = re.compile(rf"(.+?)-(?:({_SAFE}{{6,10}})-)?{_SAFE}{{5}}")
"""A pod of a ReplicaSet, with the hash of its template, of a DaemonSet or of a Job."""
_ORDINAL: Final = re.compile(r"(.+)-\d+")
"""A pod of a StatefulSet."""

SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class KnownPod:
    """A recorded pod, and what is known about it."""

    pod: RecordedPod
    subjects: tuple[Subject, ...]
    revision: str = ""
    """The version of its template; empty if nothing says it."""
    choice: HoldChoice | None = None
    """The choice of its annotation; None leaves it to the node's."""
    is_described: bool = False
    """Whether a manifest is its own."""

    def period_us(self, container: str) -> int:
        """The time between two attempts of a container's liveness probe."""
        found = next(each for each in self.pod.containers if each.name == container)
        return found.probes["liveness"].period_seconds * SECOND_US


def known_pod(pod: RecordedPod, node: str, manifests: Iterable[Manifest], read_command: CommandReader) -> KnownPod:
    """A recorded pod with what its manifest says, or else its name."""
    manifest = next((each for each in manifests if is_of(each, pod)), None)
    workload, revision = _by_name(pod.name)
    if manifest is None:
        return KnownPod(pod, tuple(_subjects(pod, node, workload)), revision)
    made_by = manifest.object
    workload = "" if made_by is None or made_by.kind == "Pod" else f"{made_by.kind}/{made_by.name}"
    found = tuple(_described(_subjects(pod, node, workload), manifest, read_command))
    return KnownPod(pod, found, revision, hold_choice(manifest.pod)[0], is_described=True)


def _by_name(name: str) -> tuple[str, str]:
    """``Pods/web-*`` and the hash of the template, as far as a pod's name shows them."""
    if (replica := _REPLICA.fullmatch(name)) is not None:
        return f"Pods/{replica[1]}-*", replica[2] or ""
    ordinal = _ORDINAL.fullmatch(name)
    return ("", "") if ordinal is None else (f"Pods/{ordinal[1]}-*", "")


def _subjects(pod: RecordedPod, node: str, workload: str) -> Iterator[Subject]:
    for container in pod.containers:
        for probe_type, numbers in container.probes.items():
            yield Subject(
                pod.uid,
                pod.namespace,
                pod.name,
                container.name,
                probe_type,
                node,
                workload=workload,
                image=container.images[-1] if container.images else "",
                period_ms=numbers.period_seconds * 1_000,
                timeout_ms=numbers.timeout_seconds * 1_000,
                failure_threshold=min(numbers.failure_threshold, TURNS_OF_A_RUN),
            )


def _described(subjects: Iterable[Subject], manifest: Manifest, read_command: CommandReader) -> Iterator[Subject]:
    asks = asks_of(manifest.pod, read_command)
    written = {container.name: container for _, container in containers(manifest.pod)}
    for subject in subjects:
        container = written.get(subject.container)
        if container is None:
            yield subject
            continue
        found = (asks(container, name, probe) for name, probe in container.probes.items() if name == subject.probe_type)
        targets = next(found, ())
        yield replace(subject, image=container.image, targets=targets)
