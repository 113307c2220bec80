"""The content of the agent's pages (``server.view.View``)."""

from collections.abc import Callable, Mapping
from typing import Any

from probelet.agent.pod.agent_pods import AgentPods
from probelet.agent.pod.pauses import Pauses
from probelet.agent.show.metrics import Numbers, render
from probelet.agent.show.status import status
from probelet.base.exposition.process_metrics import render_process
from probelet.runtime.host import RuntimeHost
from probelet.server.document.event import RecordedEvent
from probelet.server.status import Status
from probelet.server.view import IncidentFeed


class AgentView:
    """``numbers`` returns those of this moment; its argument: whether the runtime could be listed. ``enhanced`` returns
    the series of enhanced liveness."""

    def __init__(
        self,
        host: RuntimeHost,
        configuration: Mapping[str, Any],
        pods: AgentPods,
        pauses: Pauses,
        numbers: Callable[[bool], Numbers],
        enhanced: Callable[[], bytes],
    ) -> None:
        self._host = host
        self._configuration = configuration
        self._pods = pods
        self._pauses = pauses
        self._numbers = numbers
        self._enhanced = enhanced

    def status(self, history: int = 0, pod: str = "") -> Status:
        """The status document."""
        pods, host = (found for found in self._pods.by_uid.values() if pod in ("", found.full_name)), self._host
        found = status(pods, self._pauses, node=host.node, engine=host.engine, history=history)
        host.incidents.tell(found.head)
        host.drift.tell(found.head)
        return found

    @property
    def incidents(self) -> IncidentFeed:
        """The incidents of this node."""
        return self._host.incidents

    def configz(self) -> Mapping[str, Any]:
        """The effective configuration, as read at start."""
        return self._configuration

    def events(self, since: int) -> list[RecordedEvent]:
        """The events kept with ``seq > since``, oldest first."""
        return self._host.recorder.events(since)

    def metrics(self) -> bytes:
        """The page ``/metrics``: the engine's series, then the agent's own."""
        host, own = self._host, render(self._numbers(self._host.pleg.error is None))
        agent = (own, self._enhanced(), host.calls.render(), host.incidents.metrics(), host.drift.metrics())
        return b"".join((host.engine.metrics(), *agent, render_process()))

    def metrics_pods(self) -> bytes:
        """Always empty: the kubelet restarts containers, and counts that."""
        return b""

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``: the kubelet's series."""
        return self._host.engine.metrics_probes()

    def ready(self) -> tuple[bool, str]:
        """Whether pods are probed: the runtime answers. The API server may be away: probes go on without it."""
        error = self._host.pleg.error
        return error is None, "" if error is None else f"runtime: {error}"
