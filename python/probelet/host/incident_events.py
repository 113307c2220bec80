"""An event at the beginning of each incident and one at its end."""

from collections.abc import Callable
from typing import Final, TypeAlias

from probelet.host.incident_watch import IncidentWatch
from probelet.host.recorder import Recorder
from probelet.kube.events.correlator import EventType
from probelet.policy.incidents import Began, Ended, Incident, Output, telling

BEGAN: Final = "IncidentBegan"
ENDED: Final = "IncidentEnded"
"""Reasons of the events."""

NodeRecord: TypeAlias = Callable[[EventType, str, str], None]
"""Records an event about the node: type, reason, message."""


class IncidentEvents:
    """A listener of ``watch``. An incident's events are about the pod of the first container that it named, or about
    the node if it is the node's or the prober's and ``on_node`` can record that."""

    def __init__(self, watch: IncidentWatch, recorder: Recorder, on_node: NodeRecord | None = None) -> None:
        self._watch = watch
        self._recorder = recorder
        self._on_node = on_node
        # Open incidents -> UID and name of their pod; empty for the node's.
        self._about: dict[str, tuple[str, str]] = {}

    def __call__(self, output: Output) -> None:
        """Takes what the detector puts out."""
        incident, said = output.incident, telling(output)
        if isinstance(output, Began):
            about = self._about[incident.id] = self._object(incident)
            self._record(about, "Warning", BEGAN, f"incident {incident.id} {said}")
        elif isinstance(output, Ended) and (found := self._about.pop(incident.id, None)) is not None:
            self._record(found, "Normal", ENDED, f"incident {incident.id} {said}")

    def _object(self, incident: Incident) -> tuple[str, str]:
        if self._on_node is not None and incident.kind in ("node", "prober"):
            return "", ""
        name = incident.affected[0].rpartition("/")[0] if incident.affected else ""
        return self._watch.uid_of(name), name

    def _record(self, about: tuple[str, str], type: EventType, reason: str, message: str) -> None:
        uid, name = about
        if name:
            self._recorder.record(uid, name, type, reason, message)
        elif self._on_node is not None:
            self._on_node(type, reason, message)
