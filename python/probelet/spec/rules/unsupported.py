"""Fields that make probelet refuse a pod.

These are the features that this version lacks, because running half of a manifest would be worse, and the fields that
no pod may have at its creation. Remove a row once its feature exists. ``ignored`` has the fields that do no harm.
"""

from collections.abc import Callable, Iterator

from probelet.spec.model.pod import Pod
from probelet.spec.rules.security.contexts import os_name
from probelet.spec.text.problem import FieldError

DETAIL = "not available in this version of probelet"
NOT_ON_CREATE = "cannot be set on create"
"""A kubelet's message for the same field of a static pod (core ``ValidatePodCreate``, 1.36)."""


GATED = "a pod of this node cannot have a gate: spec.nodeName cannot be set until all schedulingGates have been cleared"


def _ephemeral_containers(pod: Pod) -> Iterator[FieldError]:
    if pod.spec.ephemeral_containers:
        yield FieldError("spec.ephemeralContainers", "Forbidden", detail=NOT_ON_CREATE)


def _scheduling_gates(pod: Pod) -> Iterator[FieldError]:
    """The kubelet gives each static pod its node, and a pod with a gate may have none (core ``ValidatePodCreate``)."""
    if pod.spec.scheduling_gates:
        yield FieldError("spec.schedulingGates", "Forbidden", detail=GATED)


def _os(pod: Pod) -> Iterator[FieldError]:
    name = os_name(pod.spec)
    if name not in ("", "linux"):
        yield FieldError("spec.os.name", "Invalid value", name, "this node runs linux; must be linux or absent")


# Each function finds the uses of one feature.
UNSUPPORTED: tuple[Callable[[Pod], Iterator[FieldError]], ...] = (
    _ephemeral_containers,
    _scheduling_gates,
    _os,
)


def unsupported_fields(pod: Pod) -> list[FieldError]:
    """One error for each use of a refused feature."""
    return [error for row in UNSUPPORTED for error in row(pod)]
