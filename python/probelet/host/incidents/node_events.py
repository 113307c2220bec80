"""Events about nodes at the API server; `probelet run` has none, and does not read the client of one."""

from probelet.host.incidents.events import NodeRecord
from probelet.kube.events.correlator import EventType
from probelet.kube.events.writer import EventWriter, Regarding


def node_record(writer: EventWriter) -> NodeRecord:
    """Records events about nodes. As the kubelet's, they have the node's name for a UID (``nodeRef``, 1.36)."""

    def write(node: str, type: EventType, reason: str, message: str) -> None:
        writer.record(Regarding("v1", "Node", "", node, node), type, reason, message)

    return write
