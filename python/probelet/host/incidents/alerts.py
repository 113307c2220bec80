"""Incidents as alerts for an Alertmanager (its API v2), and which of them it has still to learn of.

An alert that nobody repeats ends by itself (``endsAt``), so that none stays open when probelet ends or is cut off.
While an incident is open its alert is repeated, as Prometheus does. Two alerts are the same if their labels are, so
that an incident which turns out to be another kind ends one alert and begins the next.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypedDict

from probelet.base.exposition.timestamp import rfc3339
from probelet.policy.incidents import Ended, Grew, Incident, Output, telling

ALERT: Final = "ProbeletIncident"
"""The name of the alert rule, so that one route serves both ways."""

REPEAT_MS: Final = 60_000
"""Time between two tellings of an open incident, as Prometheus has it."""

ENDS_AFTER_MS: Final = 4 * REPEAT_MS
"""An alert that is not repeated for so long is over, as for Prometheus."""

PENDING_MAX: Final = 100
"""Alerts that wait for an Alertmanager that does not answer; the oldest go first."""

VALUE_MAX: Final = 256
"""Characters of a label's value."""

Key: TypeAlias = tuple[tuple[str, str], ...]


class Alert(TypedDict):
    """An alert of Alertmanager's API v2."""

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    startsAt: str
    endsAt: str


class IncidentAlerts:
    """The alerts of one node."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._open: dict[str, Incident] = {}
        self._pending: dict[Key, Alert] = {}
        self.dropped = 0
        """Alerts that waited for too long."""

    def take(self, output: Output, now_ms: int) -> bool:
        """Takes an output of the detector; returns whether the Alertmanager has to learn of it now. The growth of an
        incident waits for the next repetition."""
        incident = output.incident
        before = self._open.get(incident.id)
        if before is not None and self._labels(before) != self._labels(incident):
            self._put(before, rfc3339(now_ms))
        if isinstance(output, Ended):
            self._open.pop(incident.id, None)
            self._put(incident, rfc3339(incident.ended_ms or now_ms), telling(output) or "")
            return True
        self._open[incident.id] = incident
        if isinstance(output, Grew) and before is not None:
            return False
        self._put(incident, rfc3339(now_ms + ENDS_AFTER_MS))
        return True

    def repeat(self, now_ms: int) -> None:
        """Tells of every open incident again."""
        for incident in self._open.values():
            self._put(incident, rfc3339(now_ms + ENDS_AFTER_MS))

    def pending(self) -> dict[Key, Alert]:
        """Takes all alerts that wait."""
        found, self._pending = self._pending, {}
        return found

    def give_back(self, alerts: Mapping[Key, Alert]) -> None:
        """Alerts that nobody took wait again, but for alerts with news since."""
        self._pending = {**alerts, **self._pending}
        self._trim()

    def _put(self, incident: Incident, ends_at: str, summary: str = "") -> None:
        labels = self._labels(incident)
        annotations = {"summary": summary or incident.evidence, "evidence": incident.evidence}
        annotations["affected"] = ", ".join(incident.affected)
        annotations["killed_for_nothing"] = str(incident.killed_for_nothing)
        alert = Alert(labels=labels, annotations=annotations, startsAt=rfc3339(incident.since_ms), endsAt=ends_at)
        self._pending[tuple(labels.items())] = alert
        self._trim()

    def _labels(self, incident: Incident) -> dict[str, str]:
        # An Alertmanager treats an empty label as none.
        labels = {"alertname": ALERT, "severity": "warning", "node": self._node, "incident": incident.id}
        labels |= {"kind": incident.kind, "shared": incident.shared, "value": incident.value[:VALUE_MAX]}
        return {name: value for name, value in labels.items() if value}

    def _trim(self) -> None:
        while len(self._pending) > PENDING_MAX:
            del self._pending[next(iter(self._pending))]
            self.dropped += 1
