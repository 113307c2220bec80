"""The order in which the containers of an ending pod get their stop signal.

Kubelet kuberuntime_termination_order.go, 1.36: a sidecar waits until every regular container has ended, and every
sidecar that was started after it. An ordinary init container waits for no container, and no container waits for it.
"""

from collections.abc import Iterable

from probelet.policy.rules.kind import is_sidecar
from probelet.spec.model.pod import Pod


class TerminationOrder:
    """Which container waits for which of ``running``; no container waits for one that does not run."""

    def __init__(self, pod: Pod, running: Iterable[str]) -> None:
        self._alive = set(running)
        self._before: dict[str, frozenset[str]] = {}
        regular = {container.name for container in pod.spec.containers}
        later: set[str] = set()
        for container in reversed(pod.spec.init_containers):
            if is_sidecar(container):
                self._before[container.name] = frozenset(regular | later)
                later = {container.name}

    def is_turn(self, name: str) -> bool:
        """Whether everything has ended that this container waits for."""
        return self._alive.isdisjoint(self._before.get(name, frozenset()))

    def terminated(self, name: str) -> None:
        """This container has ended."""
        self._alive.discard(name)
