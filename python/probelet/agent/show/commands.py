"""The commands of the control socket on an agent (``server.control.command.Commands``)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probelet.agent.pod.agent_pod import AgentPod
from probelet.agent.pod.pauses import Pauses
from probelet.host.log_description import logs_of
from probelet.server.control.command import RefusedError, pod_named
from probelet.server.document.event import PausedProbe
from probelet.spec.model.probe import ProbeType

KUBELETS = "the kubelet restarts the containers of this node, and keeps their delays"


class AgentCommands:
    """``pods`` are the agent's, by UID; ``log_root`` is the kubelet's directory for logs."""

    def __init__(self, pods: Mapping[str, AgentPod], pauses: Pauses, log_root: Path) -> None:
        self._pods = pods
        self._pauses = pauses
        self._log_root = log_root

    async def pause(
        self, pod: str, container: str | None, probe_type: ProbeType | None, seconds: int
    ) -> list[PausedProbe]:
        """Pauses probes of a pod. Raises NoSuchPodError."""
        found = pod_named(self._pods.values(), pod)
        return await self._pauses.set(found, container, probe_type, seconds)

    def logs(self, pod: str) -> dict[str, Any]:
        """Where a pod's logs are. Raises NoSuchPodError."""
        return logs_of(self._pods.values(), pod, self._log_root)

    def retry(self, pod: str, container: str | None) -> list[str]:
        """Raises RefusedError."""
        raise RefusedError(f"retry: {KUBELETS}")

    def reset(self, pod: str, container: str | None) -> list[str]:
        """Raises RefusedError."""
        raise RefusedError(f"reset: {KUBELETS}")
