"""``probelet-incidents/1`` and ``probelet-incident/1``."""

from typing import Literal, NotRequired, TypedDict


class IncidentCounts(TypedDict):
    """How much an incident has touched so far."""

    pods: int
    """Pods with a probe that failed."""
    containers: int
    """Their containers."""
    probes: int
    """The probes that failed."""
    workloads: int
    """The workloads of the pods."""
    nodes: int
    """The nodes on which the pods run."""


class IncidentDocument(TypedDict):
    """One thing that went wrong, with everything that it touched."""

    id: str
    """Its name while this probelet runs."""
    kind: Literal["prober", "node", "workload", "shared", "container"]
    """``prober``: the prober itself was late. ``node``: most of one node. ``workload``: most of one workload.
    ``shared``: several workloads that have one thing in common. ``container``: one container alone."""
    since: str
    """When the first attempt of it failed."""
    ended: str | None
    """When the last of it was well again; null while it is open."""
    shared: str
    """The sort of thing that all of it shares: ``target``, ``image``, ``rollout``, ``workload``, ``node`` or
    ``container``; empty if that has no name."""
    value: str
    """Its name, such as ``db:5432``."""
    cause: str
    """The most frequent cause of the failures."""
    evidence: str
    """Why this is one incident, in one sentence."""
    counts: IncidentCounts
    """How much it has touched so far."""
    killed: int
    """Kills by probes meanwhile."""
    killed_for_nothing: int
    """Kills that could not help, because the cause was not in the container."""
    affected: list[str]
    """Some of the containers, as NAMESPACE/POD/CONTAINER."""
    merged_into: NotRequired[str]
    """The id of the incident that this one turned out to be part of."""


class IncidentsDocument(TypedDict):
    """The open incidents and the newest that are over."""

    schema: Literal["probelet-incidents/1"]
    as_of: str
    """The moment of the document."""
    node: str
    """The name of the node; ``cluster`` for a controller."""
    open: list[IncidentDocument]
    """Oldest first."""
    ended: list[IncidentDocument]
    """Newest first, at most a hundred."""


class IncidentChange(TypedDict):
    """Something new about one incident."""

    schema: Literal["probelet-incident/1"]
    at: str
    """When it was found."""
    change: Literal["open", "began", "grew", "reclassified", "ended"]
    """``open``: it was open before the reader came."""
    incident: IncidentDocument
    """The incident as it is now."""


class NumberedChange(IncidentChange):
    """A change with its place in the stream of the service; no verb prints ``seq``."""

    seq: int
    """The place: larger than that of every earlier change."""
