"""The outputs of the restart decision."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from probelet.beside.guard.objects.budget import BudgetKey
from probelet.beside.guard.restart.protocol.inputs import RequestKey
from probelet.beside.guard.restart.protocol.reason import Reason
from probelet.beside.guard.restart.state.workloads import WorkloadKey


class Decision(msgspec.Struct, frozen=True):
    """One decision about one failed probe; for the log and ``probelet_elp_decisions_total``."""

    reason: Reason
    namespace: str
    pod: str
    container: str
    message: str
    """One line that explains the reason, with the numbers that led to it."""


class Create(msgspec.Struct, frozen=True):
    """Create a ContainerRecreateRequest; answered by ``Wrote`` with this number."""

    number: int
    body: dict[str, Any]


class Delete(msgspec.Struct, frozen=True):
    """Delete a ContainerRecreateRequest if it still has this UID; answered by ``Wrote``."""

    number: int
    key: RequestKey
    uid: str
    why: str


class Reserve(msgspec.Struct, frozen=True):
    """Write a place for a pod into the status of a budget, as a merge patch; answered by ``Wrote``.

    The patch has the resourceVersion that the decision was made with, so the API server refuses it if the budget has
    changed.
    """

    number: int
    budget: BudgetKey
    patch: dict[str, Any]


class AnnotatePod(msgspec.Struct, frozen=True):
    """Merge-patch a pod's annotations; nobody waits for the answer."""

    namespace: str
    name: str
    uid: str
    patch: dict[str, Any]


class Regarding(msgspec.Struct, frozen=True):
    """The object of an event."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class Event(msgspec.Struct, frozen=True):
    """A Kubernetes event."""

    regarding: Regarding
    type: Literal["Normal", "Warning"]
    reason: str
    message: str


class Finished(msgspec.Struct, frozen=True):
    """A request of ours has completed; for ``probelet_elp_crr_duration_seconds``."""

    has_succeeded: bool
    duration_ns: int


Output: TypeAlias = Decision | Create | Delete | Reserve | AnnotatePod | Event | Finished


class Gauges(msgspec.Struct, frozen=True):
    """The state in numbers, for the metric page: no output, but asked for."""

    tokens: int
    queued: Mapping[WorkloadKey, int]
    """Restarts that wait for a token, by workload."""
    in_flight: Mapping[WorkloadKey, int]
    """Restarts under way, by workload."""
    open_workloads: int
    open_nodes: int
    """How many workloads and nodes have their breaker open."""
    held: Mapping[Reason, int]
    """For how long the failed probe has failed that has waited longest for its restart, in nanoseconds, by the reason
    that holds it."""
