"""The probe whose success ends a container's back-off (ours): ``probelet.dev/release-on: app=postgres/db/readiness``.

The pod may carry a namespace, ``db/postgres/db/readiness``; without one it is the container's own. It applies only
if the node sets ``releaseOnDependency``.
"""

import re
from typing import NamedTuple

from probelet.spec.annotation.entry import container_entries
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType
from probelet.spec.text.problem import FieldError

ANNOTATION = "probelet.dev/release-on"

_PROBE = re.compile(r"(?:([^/\s]+)/)?([^/\s]+)/([^/\s]+)/(liveness|readiness|startup)")


class Dependency(NamedTuple):
    """One probe of one container on this node."""

    pod: str
    """``namespace/name``."""
    container: str
    probe_type: ProbeType


def dependencies(pod: Pod) -> tuple[dict[str, Dependency], list[FieldError]]:
    """The probe that releases each container from its back-off, and an error for each malformed entry."""
    entries, errors = container_entries(pod, ANNOTATION, "app=postgres/db/readiness")
    found = {}
    for name, text in entries.items():
        match = _PROBE.fullmatch(text)
        if match is None:
            detail = "must be [NAMESPACE/]POD/CONTAINER/TYPE, where TYPE is liveness, readiness or startup"
            path = f"metadata.annotations[{ANNOTATION}]"
            errors.append(FieldError(path, "Invalid value", f"{name}={text}", detail))
        else:
            namespace = match[1] or pod.metadata.namespace
            probe_type: ProbeType = match[4]  # type: ignore[assignment]  # the pattern allows exactly the three
            found[name] = Dependency(f"{namespace}/{match[2]}", match[3], probe_type)
    return found, errors
