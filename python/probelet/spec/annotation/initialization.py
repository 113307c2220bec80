"""``initializationFailureThreshold`` as an annotation (KEP-950, ours).

An API server prunes fields that it does not know, so the field has a second form on the pod:
``probelet.dev/initialization-failure-threshold: app/liveness=20,app/readiness=5``.
"""

import re

from msgspec.structs import replace

from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe, ProbeType
from probelet.spec.text.problem import FieldError

ANNOTATION = "probelet.dev/initialization-failure-threshold"
PATH = f"metadata.annotations[{ANNOTATION}]"

_ENTRY = re.compile(r"\s*([^/=,\s]+)/(liveness|readiness|startup)=([0-9]{1,10})\s*", re.ASCII)
_THRESHOLD_MAX = 2**31 - 1


def fold_annotation(pod: Pod) -> tuple[Pod, list[FieldError]]:
    """Writes the annotation's thresholds into a copy of ``pod``.

    An entry is an error if it is not ``<container>/<type>=<number>``, names no container or probe, or contradicts
    the probe's own field; the other entries still apply.
    """
    text = pod.metadata.annotations.get(ANNOTATION)
    if text is None:
        return pod, []
    wanted: dict[tuple[str, ProbeType], int] = {}
    errors = []
    for entry in text.split(","):
        match = _ENTRY.fullmatch(entry)
        if match is None or int(match[3]) > _THRESHOLD_MAX:
            detail = "must be a list such as app/liveness=20,app/readiness=5"
            errors.append(FieldError(PATH, "Invalid value", entry.strip(), detail))
            continue
        probe_type: ProbeType = match[2]  # type: ignore[assignment]  # the pattern allows exactly the three
        if (match[1], probe_type) in wanted:
            errors.append(FieldError(PATH, "Duplicate value", f"{match[1]}/{probe_type}"))
        else:
            wanted[match[1], probe_type] = int(match[3])
    spec = replace(
        pod.spec,
        containers=[_fold(container, wanted, errors) for container in pod.spec.containers],
        init_containers=[_fold(container, wanted, errors) for container in pod.spec.init_containers],
    )
    for name, probe_type in wanted:
        errors.append(FieldError(PATH, "Invalid value", f"{name}/{probe_type}", "the pod has no such probe"))
    return replace(pod, spec=spec), errors


def _fold(container: Container, wanted: dict[tuple[str, ProbeType], int], errors: list[FieldError]) -> Container:
    """The container with its entries written into its probes; removes those entries from ``wanted``."""
    folded: dict[ProbeType, Probe] = {}
    for probe_type, probe in container.probes.items():
        threshold = wanted.pop((container.name, probe_type), None)
        if threshold is None:
            continue
        if probe.initialization_failure_threshold not in (0, threshold):
            detail = f"the probe's own initializationFailureThreshold is {probe.initialization_failure_threshold}"
            errors.append(FieldError(PATH, "Invalid value", f"{container.name}/{probe_type}={threshold}", detail))
        else:
            folded[probe_type] = replace(probe, initialization_failure_threshold=threshold)
    return with_probes(container, folded) if folded else container


def with_probes(container: Container, changed: dict[ProbeType, Probe]) -> Container:
    """A copy of ``container`` with the probes in ``changed`` replaced."""
    return replace(
        container,
        liveness_probe=changed.get("liveness", container.liveness_probe),
        readiness_probe=changed.get("readiness", container.readiness_probe),
        startup_probe=changed.get("startup", container.startup_probe),
    )
