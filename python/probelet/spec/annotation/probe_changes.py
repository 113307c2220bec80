"""Whether the probes of a pod may change while its containers run (ours): ``probelet.dev/probe-changes: live``.

It applies only if the node sets ``probeChanges``. The core says what a worker does with another probe
(``rust/core/src/prober/model/change.rs``).
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from probelet.base.words import listed
from probelet.spec.annotation.probe_options import ANNOTATION as PROBE_OPTIONS
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import PROBE_TYPES, ProbeType
from probelet.spec.text.problem import FieldError

ANNOTATION: Final = "probelet.dev/probe-changes"
PATH: Final = f"metadata.annotations[{ANNOTATION}]"
LIVE: Final = "live"
PROBES_CHANGED: Final = "ProbesChanged"
"""The reason of the event about a change."""
SHOWN_MAX: Final = 8
"""Probes that its message names."""


def takes_changes(pod: Pod) -> bool:
    """Whether the pod asks for it."""
    return pod.metadata.annotations.get(ANNOTATION) == LIVE


def wrong_changes(pod: Pod) -> list[FieldError]:
    """The mistake in the annotation, if it has one."""
    value = pod.metadata.annotations.get(ANNOTATION, LIVE)
    return [] if value == LIVE else [FieldError(PATH, "Unsupported value", value, f'supported values: "{LIVE}"')]


def without_probes(pod: Pod) -> Pod:
    """The part of the pod that no change of its probes changes."""

    def blank(container: Container) -> Container:
        return replace(container, liveness_probe=None, readiness_probe=None, startup_probe=None)

    meta = pod.metadata
    annotations = {name: text for name, text in meta.annotations.items() if name != PROBE_OPTIONS}
    spec = replace(
        pod.spec,
        containers=[blank(container) for container in pod.spec.containers],
        init_containers=[blank(container) for container in pod.spec.init_containers],
    )
    return replace(pod, metadata=replace(meta, annotations=annotations), spec=spec)


def changed_probes(before: Pod, now: Pod) -> dict[tuple[str, ProbeType], str]:
    """Says what became of each probe that differs, by container and type: ``readinessProbe of container web changed
    (periodSeconds)``."""
    was, found = _probes(before), _probes(now)
    said: dict[tuple[str, ProbeType], str] = {}
    for key in [*found, *(key for key in was if key not in found)]:
        name = f"{key[1]}Probe of container {key[0]}"
        if key not in was:
            said[key] = f"{name} added"
        elif key not in found:
            said[key] = f"{name} removed"
        elif was[key] != found[key]:
            fields = sorted(was[key].keys() | found[key].keys())
            differ = [field for field in fields if was[key].get(field) != found[key].get(field)]
            said[key] = f"{name} changed ({', '.join(differ)})"
    return said


def told(said: dict[tuple[str, ProbeType], str]) -> str:
    """The message of the event about a change."""
    return f"{listed(list(said.values()), SHOWN_MAX)}; what was counted stays"


def _probes(pod: Pod) -> dict[tuple[str, ProbeType], dict[str, object]]:
    """Each probe as plain data."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return {
        (container.name, probe_type): msgspec.to_builtins(probe)
        for container in containers
        for probe_type in PROBE_TYPES
        if (probe := container.probe(probe_type)) is not None
    }
