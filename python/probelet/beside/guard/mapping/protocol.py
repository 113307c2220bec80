"""The inputs and outputs of the mapping."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from probelet.beside.guard.mapping.entry import Reason
from probelet.beside.guard.objects.node import GuardedNode
from probelet.beside.guard.objects.pod import GuardedPod


@dataclass(frozen=True, slots=True)
class PodChanged:
    """A pod is there, or has changed; None: it is gone, or has nothing to do with enhanced liveness any more."""

    uid: str
    pod: GuardedPod | None


@dataclass(frozen=True, slots=True)
class ProbesChanged:
    """The NodePodProbe of a node has this ``metadata.generation``; None: it is gone."""

    node: str
    generation: int | None


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """A node is there, or has changed; None: it is gone."""

    name: str
    node: GuardedNode | None


@dataclass(frozen=True, slots=True)
class GotProbes:
    """The answer to ``Read``; None: there is no such object."""

    node: str
    body: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Wrote:
    """The answer to ``Write``, or to a ``Read`` that failed. ``conflict``: the object is another one by now."""

    node: str
    outcome: Literal["done", "conflict", "failed"]
    generation: int | None = None
    """Of the object as it was written; None after a deletion."""


@dataclass(frozen=True, slots=True)
class Configured:
    """``detects`` False removes every probe of ours."""

    detects: bool


@dataclass(frozen=True, slots=True)
class Resync:
    """Compares every NodePodProbe again."""


@dataclass(frozen=True, slots=True)
class Synced:
    """Whether all pods and nodes of the cluster are known and current. Begins False."""

    is_synced: bool


Input: TypeAlias = PodChanged | ProbesChanged | NodeChanged | GotProbes | Wrote | Configured | Resync | Synced


@dataclass(frozen=True, slots=True)
class Read:
    """Read the NodePodProbe of a node from the API server."""

    node: str


@dataclass(frozen=True, slots=True)
class Write:
    """Write the NodePodProbe of a node. ``body`` has the UID and version that was read, also for ``delete``."""

    node: str
    verb: Literal["create", "replace", "delete"]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PodEvent:
    """An event of a pod; ``ELPProbeMapped`` is Normal, the others are warnings."""

    pod: GuardedPod
    reason: Reason
    message: str


Output: TypeAlias = Read | Write | PodEvent
