"""The inputs of the restart decision: changes of objects, and the answers to its writes.

An object that is None is gone, or has nothing to do with enhanced liveness any more.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from probelet.beside.guard.objects.budget import Budget, BudgetKey, BudgetKind
from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload
from probelet.beside.guard.objects.node_probes import NodeProbes
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.restart.settings.config import Config

RequestKey: TypeAlias = tuple[str, str]
"""Namespace and name of a ContainerRecreateRequest."""

Readable: TypeAlias = Literal["served", "absent", "unreadable"]


@dataclass(frozen=True, slots=True)
class PodChanged:
    """A pod."""

    uid: str
    pod: GuardedPod | None


@dataclass(frozen=True, slots=True)
class ProbesChanged:
    """The NodePodProbe of a node."""

    node: str
    probes: NodeProbes | None


@dataclass(frozen=True, slots=True)
class RequestChanged:
    """A ContainerRecreateRequest, of ours or of a user."""

    key: RequestKey
    request: RecreateRequest | None


@dataclass(frozen=True, slots=True)
class BudgetChanged:
    """A PodDisruptionBudget or PodUnavailableBudget."""

    key: BudgetKey
    budget: Budget | None


@dataclass(frozen=True, slots=True)
class BudgetsReadable:
    """Whether the budgets of a kind can be read. ``absent``: the cluster does not serve the kind."""

    kind: BudgetKind
    readable: Readable


@dataclass(frozen=True, slots=True)
class NodeChanged:
    """A node."""

    name: str
    node: GuardedNode | None


@dataclass(frozen=True, slots=True)
class WorkloadChanged:
    """A workload, for the number of its replicas and for the workload that owns it."""

    uid: str
    workload: GuardedWorkload | None


@dataclass(frozen=True, slots=True)
class Configured:
    """A configuration. A malformed one is never passed: the last good one stays."""

    config: Config


@dataclass(frozen=True, slots=True)
class IncidentChanged:
    """An incident is over, or is of another kind than before. ``id`` is its own."""

    id: str


@dataclass(frozen=True, slots=True)
class Synced:
    """Whether all objects are known and their changes arrive. Without that nothing is decided (F-2)."""

    is_synced: bool


@dataclass(frozen=True, slots=True)
class WallClock:
    """``offset_ns``: nanoseconds since the Unix epoch, less ``now``. It may change when the clock is set."""

    offset_ns: int


@dataclass(frozen=True, slots=True)
class Wrote:
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
