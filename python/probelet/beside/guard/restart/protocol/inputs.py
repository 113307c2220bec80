"""The inputs of the restart decision: changes of objects, and the answers to its writes.

An object that is None is gone, or has nothing to do with enhanced liveness any more.
"""

from typing import Literal, TypeAlias

import msgspec

from probelet.beside.guard.objects.budget import Budget, BudgetKey, BudgetKind
from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload
from probelet.beside.guard.objects.node_probes import NodeProbes
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.restart.settings.config import Config

RequestKey: TypeAlias = tuple[str, str]
"""Namespace and name of a ContainerRecreateRequest."""

Readable: TypeAlias = Literal["served", "absent", "unreadable"]


class PodChanged(msgspec.Struct, frozen=True):
    """A pod."""

    uid: str
    pod: GuardedPod | None


class ProbesChanged(msgspec.Struct, frozen=True):
    """The NodePodProbe of a node."""

    node: str
    probes: NodeProbes | None


class RequestChanged(msgspec.Struct, frozen=True):
    """A ContainerRecreateRequest, of ours or of a user."""

    key: RequestKey
    request: RecreateRequest | None


class BudgetChanged(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget or PodUnavailableBudget."""

    key: BudgetKey
    budget: Budget | None


class BudgetsReadable(msgspec.Struct, frozen=True):
    """Whether the budgets of a kind can be read. ``absent``: the cluster does not serve the kind."""

    kind: BudgetKind
    readable: Readable


class NodeChanged(msgspec.Struct, frozen=True):
    """A node."""

    name: str
    node: GuardedNode | None


class WorkloadChanged(msgspec.Struct, frozen=True):
    """A workload, for the number of its replicas and for the workload that owns it."""

    uid: str
    workload: GuardedWorkload | None


class Configured(msgspec.Struct, frozen=True):
    """A configuration. A malformed one is never passed: the last good one stays."""

    config: Config


class IncidentChanged(msgspec.Struct, frozen=True):
    """An incident is over, or is of another kind than before. ``id`` is its own."""

    id: str


class Synced(msgspec.Struct, frozen=True):
    """Whether all objects are known and their changes arrive. Without that nothing is decided (F-2)."""

    is_synced: bool


class WallClock(msgspec.Struct, frozen=True):
    """``offset_ns``: nanoseconds since the Unix epoch, less ``now``. It may change when the clock is set."""

    offset_ns: int


class Wrote(msgspec.Struct, frozen=True):
    """The answer to the write of that number.

    ``exists``: a request of that name is there already. ``conflict``: the object changed meanwhile. ``gone``: it is
    not there. ``refused``: the API server does not want it. ``failed``: nobody knows whether it happened.
    """

    number: int
    outcome: Literal["done", "exists", "conflict", "gone", "refused", "failed"]
    message: str = ""


Input: TypeAlias = (
    PodChanged
    | ProbesChanged
    | RequestChanged
    | BudgetChanged
    | BudgetsReadable
    | NodeChanged
    | WorkloadChanged
    | Configured
    | IncidentChanged
    | Synced
    | WallClock
    | Wrote
)
