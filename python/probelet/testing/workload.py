"""How the containers behave on a node for tests of probe configurations."""

from collections.abc import Callable

from probelet.policy.protocol.effects import KillContainer
from probelet.policy.rules.kind import init_kind
from probelet.spec.model.pod import Pod
from probelet.virtual.workload import Workload


class SteadyWorkload(Workload):
    """Containers start at once and run until they are killed; init containers have done their work at once.

    Hooks succeed at once. A container that is killed runs on for ``kill_ns`` after SIGTERM. ``on_end`` gets the pod's
    UID and the name of a container that ends.
    """

    def __init__(self, kill_ns: int, on_end: Callable[[str, str], None] = lambda uid, name: None) -> None:
        self._kill_ns = kill_ns
        self._on_end = on_end

    def ended(self, pod: Pod, name: str) -> None:
        """Tells the node."""
        self._on_end(pod.metadata.uid, name)

    def ends_ns(self, pod: Pod, effect: KillContainer) -> int:
        """Every container takes as long to end."""
        return self._kill_ns

    def runs_ns(self, pod: Pod, name: str) -> int | None:
        """An init container that is no sidecar exits at once, with 0."""
        done = any(init_kind(each) == "init" and each.name == name for each in pod.spec.init_containers)
        return 0 if done else None
