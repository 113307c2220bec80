"""The commands of the control socket on a node (``server.control.command.Commands``)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probelet.host.log_description import logs_of
from probelet.node.pod import NodePod
from probelet.policy.rules.kind import containers
from probelet.server.control.command import NoSuchPodError, RefusedError, pod_named
from probelet.server.document.event import PausedProbe
from probelet.spec.model.probe import ProbeType


class NodeCommands:
    """``pods`` are the node's, by UID; ``log_root`` is where their logs are.

    A pod is named NAMESPACE/NAME, or NAME if only one pod has that name.
    """

    def __init__(self, pods: Mapping[str, NodePod], log_root: Path) -> None:
        self._pods = pods
        self._log_root = log_root

    def logs(self, pod: str) -> dict[str, Any]:
        """Where a pod's logs are, ``probelet-logs/1``. Raises NoSuchPodError."""
        return logs_of(self._pods.values(), pod, self._log_root)

    def retry(self, pod: str, container: str | None) -> list[str]:
        """Starts a pod's waiting containers now; returns their names. Raises NoSuchPodError."""
        found, names = self._named(pod, container)
        return found.release(names)

    async def pause(
        self, pod: str, container: str | None, probe_type: ProbeType | None, seconds: int
    ) -> list[PausedProbe]:
        """Raises RefusedError: the pods of ``run`` follow their manifests."""
        raise RefusedError("only 'probelet agent' pauses probes; here a probe changes with its manifest")

    def reset(self, pod: str, container: str | None) -> list[str]:
        """Forgets the restart delays of a pod's containers; returns the names of the containers that had one.

        Raises NoSuchPodError.
        """
        found, names = self._named(pod, container)
        return found.reset(names)

    def _named(self, name: str, container: str | None) -> tuple[NodePod, list[str]]:
        pod = pod_named(self._pods.values(), name)
        names = [known.name for _, known in containers(pod.pod)]
        if container is not None and container not in names:
            raise NoSuchPodError(f'pod "{name}" has no container "{container}", but {", ".join(names)}')
        return pod, names if container is None else [container]
