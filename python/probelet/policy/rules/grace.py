"""How long a container is given to end.

Kubelet kuberuntime_container.go:setTerminationGracePeriod and killContainer, 1.36.
"""

from enum import StrEnum
from typing import Final, Literal

import msgspec

from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

MINIMUM_GRACE_SECONDS: Final = 2
"""The shortest grace of a container, even if a smaller one was requested (``minimumGracePeriodInSeconds``)."""

GraceSource = Literal["default", "deletion", "override", "pod", "probe"]


class KillReason(StrEnum):
    """Why a container is killed, in the kubelet's spelling; the empty one is a changed definition.

    ``MAX_AGE`` is ours; ``RECREATE`` is for a ContainerRecreateRequest, which a kubelet does not know.
    """

    DEFINITION = ""
    LIVENESS = "LivenessProbe"
    MAX_AGE = "MaxContainerAge"
    POST_START = "FailedPostStartHook"
    RECREATE = "ContainerRecreateRequest"
    RESTART_ALL = "RestartAllContainers"
    STARTUP = "StartupProbe"
    UNKNOWN = "Unknown"

    @property
    def label(self) -> str:
        """The reason as a label of metrics and in the log. For every kill of an ending pod the kubelet says Unknown."""
        return _LABELS[self]


_LABELS: Final = {
    KillReason.DEFINITION: "definition_changed",
    KillReason.LIVENESS: "liveness",
    KillReason.MAX_AGE: "max_age",
    KillReason.POST_START: "post_start_hook",
    KillReason.RECREATE: "recreate_request",
    KillReason.RESTART_ALL: "restart_all_containers",
    KillReason.STARTUP: "startup",
    KillReason.UNKNOWN: "stopping",
}


class Grace(msgspec.Struct, frozen=True):
    """Whole seconds, and the field they came from."""

    seconds: int
    source: GraceSource

    @property
    def asked_of_runtime(self) -> int:
        """Returns the grace for StopContainer: never less than the minimum."""
        return max(self.seconds, MINIMUM_GRACE_SECONDS)


def select_grace(pod: Pod, container: Container, reason: KillReason, *, probe_grace: bool = True) -> Grace:
    """The first that applies: the deletion's, the probe's (for its own kills only), the pod's, the minimum.

    A probe's value counts even if it is larger than the pod's. It does not count if the pod has none, or without
    ``probe_grace``: then the gate ProbeTerminationGracePeriod is off, and an older pod may still have the field.
    """
    deletion = pod.metadata.deletion_grace_period_seconds
    if deletion is not None:
        return Grace(deletion, "deletion")
    of_pod = pod.spec.termination_grace_period_seconds
    if of_pod is None:
        return Grace(MINIMUM_GRACE_SECONDS, "default")
    probe = None
    if reason is KillReason.STARTUP:
        probe = container.startup_probe
    elif reason is KillReason.LIVENESS:
        probe = container.liveness_probe
    if probe_grace and probe is not None and probe.termination_grace_period_seconds is not None:
        return Grace(probe.termination_grace_period_seconds, "probe")
    return Grace(of_pod, "pod")


def termination_grace(pod: Pod, override: int | None) -> Grace:
    """The grace of a pod that ends: the ``override``, else the pod's own, at least a second.

    Kubelet pkg/kubelet/pod_workers.go:calculateEffectiveGracePeriod, 1.36.
    """
    if override is not None:
        return Grace(max(override, 1), "override")
    of_pod = pod.spec.termination_grace_period_seconds
    return Grace(max(of_pod, 1), "pod") if of_pod is not None else Grace(MINIMUM_GRACE_SECONDS, "default")


def find_container(pod: Pod, name: str) -> Container:
    """The container or init container of that name. Raises KeyError if the pod has none."""
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        if container.name == name:
            return container
    raise KeyError(f"no container {name!r} in pod {pod.full_name}")
