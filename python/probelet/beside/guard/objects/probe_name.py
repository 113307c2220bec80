"""The names of our probes in a NodePodProbe."""

from typing import Final, Literal, TypeAlias

Naming: TypeAlias = Literal["seed", "coexist"]
"""``seed``: ``<pod>-<container>``, as the proposal has it. ``coexist``: a name that OpenKruise's own controllers leave
alone: they split names at ``#``, fail on one without it, and remove names that contain the name of a PodProbeMarker; no
such name ends in an underscore."""

_PREFIX: Final = "enhanced-liveness_#"


def probe_name(naming: Naming, pod: str, container: str) -> str:
    """The name of a container's liveness probe."""
    return f"{pod}-{container}" if naming == "seed" else f"{_PREFIX}{container}"


def is_ours(naming: Naming, pod: str, container: str, name: str) -> bool:
    """Whether a probe of a pod and container is ours, by its name."""
    return name == probe_name(naming, pod, container)


def was_ours(pod: str, container: str, name: str) -> bool:
    """Whether a probe has one of the names that the mapping gives: it may run with the other naming next time."""
    return name in (f"{pod}-{container}", f"{_PREFIX}{container}")
