"""The kinds of containers of a pod, and how events point at them."""

from collections.abc import Iterator
from typing import Literal

from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

Kind = Literal["regular", "init", "sidecar"]


def is_sidecar(container: Container) -> bool:
    """Whether an *init* container is restartable (kubelet ``IsRestartableInitContainer``, 1.36)."""
    return container.restart_policy == "Always"


def init_kind(container: Container) -> Kind:
    """``sidecar`` or ``init`` for a container of ``spec.initContainers``."""
    return "sidecar" if is_sidecar(container) else "init"


def containers(pod: Pod) -> Iterator[tuple[Kind, Container]]:
    """Every container in the order of a status: init containers first, then the regular ones."""
    for container in pod.spec.init_containers:
        yield init_kind(container), container
    for container in pod.spec.containers:
        yield "regular", container


def field_path(kind: Kind, name: str) -> str:
    """Where in the pod an event points to: ``spec.containers{web}`` (kubelet container/ref.go:fieldPath, 1.36)."""
    return f"spec.{'containers' if kind == 'regular' else 'initContainers'}{{{name}}}"


def has_sidecar(pod: Pod) -> bool:
    """Whether any init container is restartable (kubelet ``HasRestartableInitContainer``, 1.36)."""
    return any(is_sidecar(container) for container in pod.spec.init_containers)
