"""An event at the beginning of each incident and one at its end."""

from collections.abc import Callable
from typing import Final, TypeAlias

from probelet.host.incidents.watch import IncidentWatch
from probelet.kube.events.correlator import EventType
from probelet.policy.incidents import Began, Ended, Incident, Output, telling

BEGAN: Final = "IncidentBegan"
ENDED: Final = "IncidentEnded"
"""Reasons of the events."""

NodeRecord: TypeAlias = Callable[[str, EventType, str, str], None]
"""Records an event about a node, by its name: type, reason, message."""

PodRecord: TypeAlias = Callable[[str, str, EventType, str, str], None]
"""Records an event about a pod, by UID and ``namespace/name``: type, reason, message."""


class IncidentEvents:
    """A listener of ``watch``. An incident's events are about the pod of the first container that it named, or about
    the node if it is the node's or the prober's and ``on_node`` can record that."""

    def __init__(self, watch: IncidentWatch, on_pod: PodRecord, on_node: NodeRecord | None = None) -> None:
        self._watch = watch
        self._on_pod = on_pod
        self._on_node = on_node
        # Open incidents -> UID and name of their pod, or None and the name of their node.
        self._about: dict[str, tuple[str | None, str]] = {}

    def __call__(self, output: Output) -> None:
        """Takes what the detector puts out."""
        incident, said = output.incident, telling(output)
        if isinstance(output, Began):
            about = self._about[incident.id] = self._object(incident)
            self._record(about, "Warning", BEGAN, f"incident {incident.id} {said}")
        elif isinstance(output, Ended) and (found := self._about.pop(incident.id, None)) is not None:
            self._record(found, "Normal", ENDED, f"incident {incident.id} {said}")

    def _object(self, incident: Incident) -> tuple[str | None, str]:
        if self._on_node is not None and incident.kind in ("node", "prober"):
            return None, incident.value
        name = incident.affected[0].rpartition("/")[0] if incident.affected else ""
        return self._watch.uid_of(name), name

    def _record(self, about: tuple[str | None, str], type: EventType, reason: str, message: str) -> None:
        uid, name = about
        if uid is not None and name:
            self._on_pod(uid, name, type, reason, message)
        elif uid is None and self._on_node is not None:
            self._on_node(name, type, reason, message)
