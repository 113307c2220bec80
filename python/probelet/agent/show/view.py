"""The content of the agent's pages (``server.view.View``)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from probelet._rust import Engine
from probelet.agent.pod.agent_pods import AgentPods
from probelet.agent.pod.pauses import Pauses
from probelet.agent.show.metrics import Numbers, render
from probelet.agent.show.status import status
from probelet.base.exposition.process_metrics import render_process
from probelet.host.recorder import Recorder
from probelet.runtime.seen.pleg import Pleg
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.server.document.event import RecordedEvent
from probelet.server.status import Status


@dataclass(frozen=True, slots=True)
class Sources:
    """The parts of the agent that the pages read."""

    node: str
    configuration: Mapping[str, Any]
    engine: Engine
    pods: AgentPods
    pauses: Pauses
    recorder: Recorder
    calls: RuntimeCalls
    numbers: Callable[[bool], Numbers]
    """The numbers of this moment; the argument: whether the runtime could be listed."""
    enhanced: Callable[[], bytes]
    """The series of enhanced liveness."""


class AgentView:
    """``pleg`` is None until the runtime is found."""

    def __init__(self, sources: Sources) -> None:
        self.pleg: Pleg | None = None
        self._of = sources

    def status(self) -> Status:
        """The status document."""
        return status(self._of.pods.by_uid.values(), self._of.pauses, node=self._of.node, engine=self._of.engine)

    def configz(self) -> Mapping[str, Any]:
        """The effective configuration, as read at start."""
        return self._of.configuration

    def events(self, since: int) -> list[RecordedEvent]:
        """The events kept with ``seq > since``, oldest first."""
        return self._of.recorder.events(since)

    def metrics(self) -> bytes:
        """The page ``/metrics``: the engine's series, then the agent's own."""
        own = render(self._of.numbers(self.pleg is not None and self.pleg.error is None))
        enhanced = self._of.enhanced()
        return b"".join((self._of.engine.metrics(), own, enhanced, self._of.calls.render(), render_process()))

    def metrics_pods(self) -> bytes:
        """Always empty: the kubelet restarts containers, and counts that."""
        return b""

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``: the kubelet's series."""
        return self._of.engine.metrics_probes()

    def ready(self) -> tuple[bool, str]:
        """Whether pods are probed: the runtime answers. The API server may be away: probes go on without it."""
        if self.pleg is None:
            return False, "starting"
        error = self.pleg.error
        return error is None, "" if error is None else f"runtime: {error}"
