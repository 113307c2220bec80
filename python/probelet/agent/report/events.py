"""Events of pods: kept for the control socket, and written to the API server with a component of their own."""

from collections.abc import Callable
from typing import Final

from probelet.host.recorder import Recorder
from probelet.kube.events.correlator import EventType
from probelet.kube.events.writer import EventWriter, Regarding

COMPONENT: Final = "probelet-agent"
"""``source.component`` of the events, so that people and tools tell them from the kubelet's."""


class Events(Recorder):
    """A recorder whose events the API server gets too. Each side merges and limits them as client-go does."""

    def __init__(self, now: Callable[[], int], wall_ms: Callable[[], int], writer: EventWriter) -> None:
        super().__init__(now, wall_ms)
        self._writer = writer

    def record(
        self,
        uid: str,
        pod: str,
        type: EventType,
        reason: str,
        message: str,
        field_path: str = "",
        at_ms: int = 0,
        *,
        shown: str = "",
    ) -> None:
        """Records one event about a pod, as ``Recorder.record``."""
        super().record(uid, pod, type, reason, message, field_path, at_ms, shown=shown)
        namespace, _, name = pod.partition("/")
        about = Regarding(api_version="v1", kind="Pod", namespace=namespace, name=name, uid=uid, field_path=field_path)
        self._writer.record(about, type, reason, message, shown=shown)
