"""The inputs and outputs of the mapping."""

from typing import Any, Literal, TypeAlias

import msgspec

from probelet.beside.guard.mapping.entry import Reason
from probelet.beside.guard.objects.node import GuardedNode
from probelet.beside.guard.objects.pod import GuardedPod


class PodChanged(msgspec.Struct, frozen=True):
    """A pod is there, or has changed; None: it is gone, or has nothing to do with enhanced liveness any more."""

    uid: str
    pod: GuardedPod | None


class ProbesChanged(msgspec.Struct, frozen=True):
    """The NodePodProbe of a node has this ``metadata.generation``; None: it is gone."""

    node: str
    generation: int | None


class NodeChanged(msgspec.Struct, frozen=True):
    """A node is there, or has changed; None: it is gone."""

    name: str
    node: GuardedNode | None


class GotProbes(msgspec.Struct, frozen=True):
    """The answer to ``Read``; None: there is no such object."""

    node: str
    body: dict[str, Any] | None


class Wrote(msgspec.Struct, frozen=True):
    """The answer to ``Write``, or to a ``Read`` that failed. ``conflict``: the object is another one by now."""

    node: str
    outcome: Literal["done", "conflict", "failed"]
    generation: int | None = None
    """Of the object as it was written; None after a deletion."""


class Configured(msgspec.Struct, frozen=True):
    """``detects`` False removes every probe of ours."""

    detects: bool


class Resync(msgspec.Struct, frozen=True):
    """Compares every NodePodProbe again."""


class Synced(msgspec.Struct, frozen=True):
    """Whether all pods and nodes of the cluster are known and current. Begins False."""

    is_synced: bool


Input: TypeAlias = PodChanged | ProbesChanged | NodeChanged | GotProbes | Wrote | Configured | Resync | Synced


class Read(msgspec.Struct, frozen=True):
    """Read the NodePodProbe of a node from the API server."""

    node: str


class Write(msgspec.Struct, frozen=True):
    """Write the NodePodProbe of a node. ``body`` has the UID and version that was read, also for ``delete``."""

    node: str
    verb: Literal["create", "replace", "delete"]
    body: dict[str, Any]


class PodEvent(msgspec.Struct, frozen=True):
    """An event of a pod; ``ELPProbeMapped`` is Normal, the others are warnings."""

    pod: GuardedPod
    reason: Reason
    message: str


Output: TypeAlias = Read | Write | PodEvent
