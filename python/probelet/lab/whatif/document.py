"""The ``probelet-whatif/1`` document. Times are RFC 3339 with milliseconds, lengths are seconds."""

from typing import Any, Final, Literal, TypeAlias, TypedDict

from probelet.server.document.incident import IncidentDocument
from probelet.spec.model.probe import ProbeType

SCHEMA: Final = "probelet-whatif/1"

Outcome: TypeAlias = Literal["same", "earlier", "later", "avoided", "added", "unknown"]


class RecordingPart(TypedDict):
    """The recording that was played."""

    node: str
    """The node."""
    from_time: str | None
    """Where the recording begins; null if it is empty."""
    to_time: str | None
    """Where it ends."""
    pods: int
    """Pods in it."""
    attempts: int
    """Attempts in it."""
    lost: int
    """Entries that are missing in it, because the disk hung or was full."""
    cuts: list[str]
    """A line for each place where a kill cut it."""


class ChangeRow(TypedDict):
    """A changed field of a probe."""

    pod: str
    """``namespace/name``."""
    container: str
    """The container's name."""
    type: ProbeType
    """The probe's type."""
    field: str
    """The field as a manifest spells it."""
    before: Any
    """Its recorded value: a number, or what an option of the probe has; null if there was no such probe."""
    after: Any
    """Its value in the play; null if there is no such probe."""


class RestartRow(TypedDict):
    """A container that a probe ended, in reality or in a play."""

    pod: str
    """``namespace/name``."""
    container: str
    """The container's name."""
    container_id: str
    """Its ID: each life of a container has another one."""
    outcome: Outcome
    """The outcome with the change; ``avoided``: it would not have come when it really came; ``unknown``: nobody knows
    whether it would have come."""
    really: str | None
    """The verdict's time in reality; null if there was none."""
    really_by: ProbeType | None
    """The probe that gave it."""
    instead: str | None
    """The verdict's time in the play; null if there is none, or if it is not known."""
    instead_by: ProbeType | None
    """The probe that gives it."""
    unknown_after: str | None
    """From here on nobody knows: the container would have lived on, or would have ended. Null if all is known."""
    if_failing: str | None
    """The verdict's time if the container fails wherever it is unknown; null without a verdict."""
    if_healthy: str | None
    """The verdict's time if the container is well wherever it is unknown; null without a verdict."""
    waits_for: str | None
    """The incident for whose end the kill would have waited, in words; null if it would not have."""


class OutageRow(TypedDict):
    """A time in which a container that had been ready was not ready."""

    pod: str
    """``namespace/name``."""
    container: str
    """The container's name."""
    container_id: str
    """Its ID."""
    outcome: Outcome
    """The outcome with the change: noticed ``earlier``, ``later``, the ``same``, not at all (``avoided``), or only
    in the play (``added``)."""
    really_from: str | None
    """When it really became not ready; null if it did not."""
    really_to: str | None
    """When it really became ready again; null if it did not."""
    instead_from: str | None
    """When it becomes not ready in the play."""
    instead_to: str | None
    """When it becomes ready again in the play."""
    noticed_seconds: float | None
    """How much later the play notices it; negative: earlier. Null unless both notice it."""


class StartRow(TypedDict):
    """A container whose first time ready moves."""

    pod: str
    """``namespace/name``."""
    container: str
    """The container's name."""
    container_id: str
    """Its ID."""
    really: str | None
    """When it was first ready; null if it never was."""
    instead: str | None
    """When it is first ready in the play."""


class AnswersPart(TypedDict):
    """The sources of the answers to the play's attempts."""

    recorded: int
    """Attempts that were really made at that moment."""
    carried: int
    """Attempts that were answered as the latest real one before."""
    unknown: int
    """Attempts of which nobody knows the answer."""


class CheckPart(TypedDict):
    """Whether the play without changes gives what really happened."""

    reproduced: bool
    """Whether it does, for every result of the pods that were played."""
    differences: int
    """Results that differ."""


class HoldPart(TypedDict):
    """The kills that wait, and the incidents for whose end they may."""

    choice: Literal["off", "prober", "shared"]
    """The choice of pods whose manifest has none of its own."""
    most_seconds: float
    """How long a kill waits at most."""
    incidents: list[IncidentDocument]
    """All incidents that the detector finds in the recording."""
    described: int
    """Pods of which a manifest says the workload and what its probes ask. The others have the workload that their name
    shows, and nobody knows what they ask."""


class WhatifDocument(TypedDict):
    """The outcome of a play with other settings."""

    schema: Literal["probelet-whatif/1"]
    recording: RecordingPart
    """The recording that was played."""
    assume: Literal["healthy", "failing"] | None
    """How unknown answers were taken; null: both ways, and what differs is unknown."""
    changes: list[ChangeRow]
    """The changed fields."""
    hold: HoldPart | None
    """The kills that wait; null without ``--hold-kills``."""
    restarts: list[RestartRow]
    """The containers that a probe ended, in reality or in the play, in the order of time."""
    outages: list[OutageRow]
    """The times not ready of the changed pods, in the order of time."""
    starts: list[StartRow]
    """The containers whose first time ready moves."""
    answers: AnswersPart
    """The sources of the answers to the play's attempts."""
    check: CheckPart
    """Whether the recorded settings give what really happened."""
