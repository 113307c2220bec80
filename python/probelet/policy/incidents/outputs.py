"""The outputs of the detector. Everything in it is bounded, however many pods an incident has."""

from typing import Literal, TypeAlias

import msgspec

Kind = Literal["prober", "node", "workload", "shared", "container"]
"""``prober``: the prober itself was late. ``node``: most of one node. ``workload``: most of one workload, or of its new
version. ``shared``: several workloads that have one thing in common. ``container``: one container alone."""


class Counts(msgspec.Struct, frozen=True):
    """How much an incident has touched so far."""

    pods: int = 0
    containers: int = 0
    probes: int = 0
    workloads: int = 0
    nodes: int = 0


class Incident(msgspec.Struct, frozen=True):
    """One thing that went wrong, with everything that it touched."""

    id: str
    kind: Kind
    since_ms: int
    """When the first attempt of it failed, Unix milliseconds."""
    ended_ms: int | None = None
    """When the last of it was well again; None while it is open."""
    shared: str = ""
    """The sort of thing that all of it shares: ``target``, ``image``, ``rollout``, ``workload``, ``node``,
    ``container``; empty if that has no name."""
    value: str = ""
    """Its name, such as ``db:5432``."""
    cause: str = ""
    """The most frequent cause."""
    evidence: str = ""
    """One sentence."""
    counts: Counts = msgspec.field(default_factory=Counts)
    killed: int = 0
    """Kills by probes meanwhile."""
    killed_for_nothing: int = 0
    """Those while the kind was ``shared``, ``prober`` or ``node``: a restart of the container mends none of these."""
    affected: tuple[str, ...] = ()
    """Some of the containers, ``namespace/pod/container``."""
    merged_into: str = ""
    """For one that ended because it turned out to be part of another: the other's id."""

    @property
    def thing(self) -> str:
        """The shared thing in words: ``target db:5432``."""
        return f"{self.shared} {self.value}".strip()

    @property
    def title(self) -> str:
        """The kind and the shared thing: ``shared target db:5432``; most kinds are the sort of thing themselves."""
        return self.thing if self.shared == self.kind else f"{self.kind} {self.thing}".strip()


class Began(msgspec.Struct, frozen=True):
    """A new incident."""

    incident: Incident


class Grew(msgspec.Struct, frozen=True):
    """An incident has touched more than before, or something was killed; at most once a second for each."""

    incident: Incident


class Reclassified(msgspec.Struct, frozen=True):
    """An incident is another than it seemed: its kind, or what is shared, has changed."""

    incident: Incident


class Ended(msgspec.Struct, frozen=True):
    """An incident is over."""

    incident: Incident


Output: TypeAlias = Began | Grew | Reclassified | Ended
