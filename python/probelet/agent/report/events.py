"""Events of pods at the API server, with a component of their own."""

from typing import Final

from probelet.host.recorder import EventSink
from probelet.kube.events.correlator import EventType
from probelet.kube.events.writer import EventWriter, Regarding

COMPONENT: Final = "probelet-agent"
"""``source.component`` of the events, so that people and tools tell them from the kubelet's."""


def sink_of(writer: EventWriter) -> EventSink:
    """Gives the recorder's events to the API server too. Each side merges and limits them as client-go does."""

    def write(
        uid: str, pod: str, type: EventType, reason: str, message: str, field_path: str, /, *, shown: str
    ) -> None:
        namespace, _, name = pod.partition("/")
        about = Regarding(api_version="v1", kind="Pod", namespace=namespace, name=name, uid=uid, field_path=field_path)
        writer.record(about, type, reason, message, shown=shown)

    return write
