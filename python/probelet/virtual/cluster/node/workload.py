"""How the containers of a cluster behave on their node: as the model of the cluster says."""

from collections.abc import Callable
from typing import Protocol

from probelet.policy.protocol.effects import KillContainer
from probelet.policy.rules.kind import init_kind
from probelet.spec.model.pod import Pod
from probelet.virtual.workload import Workload


class Containers(Protocol):
    """The behaviour of containers. A container is called by its pod's UID and its name."""

    def stop_ns(self, uid: str, name: str) -> int:
        """How long it runs on after SIGTERM."""

    def start(self, uid: str, name: str) -> int | None:
        """It starts now; returns after how long it ends by itself, None if it runs on."""

    def end(self, uid: str, name: str) -> None:
        """It has ended."""

    def exit_code(self, uid: str, name: str) -> int:
        """Its exit code when it ends by itself."""


class BehavingWorkload(Workload):
    """Containers that behave; init containers that are no sidecars have done their work at once."""

    def __init__(self, containers: Containers, on_start: Callable[[str], None]) -> None:
        self._containers = containers
        self._on_start = on_start

    def ends_ns(self, pod: Pod, effect: KillContainer) -> int:
        """Returns how long it runs on after SIGTERM by its behaviour."""
        return self._containers.stop_ns(pod.metadata.uid, effect.name)

    def runs_ns(self, pod: Pod, name: str) -> int | None:
        """Starts the container in the model; returns how long it runs by its behaviour."""
        if any(init_kind(each) == "init" and each.name == name for each in pod.spec.init_containers):
            return 0
        self._on_start(pod.metadata.uid)
        return self._containers.start(pod.metadata.uid, name)

    def ended(self, pod: Pod, name: str) -> None:
        """It has ended in the model too."""
        self._containers.end(pod.metadata.uid, name)

    def exit_code(self, pod: Pod, name: str) -> int:
        """0 of an init container; else as its behaviour says."""
        if any(init_kind(each) == "init" and each.name == name for each in pod.spec.init_containers):
            return 0
        return self._containers.exit_code(pod.metadata.uid, name)
