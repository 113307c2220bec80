"""PodDisruptionBudgets (policy/v1) and PodUnavailableBudgets (policy.kruise.io, kruise 1.9.0: v1alpha1, later v1beta1).

Both become one type, because one rule asks both: may another pod go down?
"""

from typing import Any, Literal, TypeAlias

import msgspec

from probelet.beside.guard.names import PUB_OPERATIONS
from probelet.spec.model.disruption_budget import DisruptionBudgetSpec
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.selector import LabelSelector

BudgetKind: TypeAlias = Literal["PodDisruptionBudget", "PodUnavailableBudget"]
BudgetKey: TypeAlias = tuple[BudgetKind, str, str]
"""Kind, namespace and name."""
UnreadyPolicy: TypeAlias = Literal["", "IfHealthyBudget", "AlwaysAllow"]
"""The word of a budget about pods that are not ready; empty: it has none."""


class Target(Object, frozen=True, kw_only=True):
    """The workload that a PodUnavailableBudget names instead of a selector."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class _Spec(DisruptionBudgetSpec, frozen=True, kw_only=True):
    target_ref: Target | None = None
    protect_operations: list[str] = msgspec.field(default_factory=list)
    ignored_pod_selector: LabelSelector | None = None


class _Status(Object, frozen=True, kw_only=True):
    observed_generation: int | None = None
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    unavailable_allowed: int = 0
    current_available: int = 0
    desired_available: int = 0
    total_replicas: int = 0
    disrupted_pods: dict[str, str | None] = msgspec.field(default_factory=dict)
    unavailable_pods: dict[str, str | None] = msgspec.field(default_factory=dict)


class _Budget(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: _Status | None = None


class Budget(msgspec.Struct, frozen=True, gc=False):
    """How many pods may be down, and how many may still go down."""

    kind: BudgetKind
    namespace: str
    name: str
    uid: str = ""
    resource_version: str = ""
    has_status: bool = True
    is_current: bool = True
    """Whether its status belongs to its present spec."""
    allowed: int = 0
    """How many more pods may go down: ``disruptionsAllowed``, ``unavailableAllowed``."""
    healthy: int = 0
    desired: int = 0
    expected: int = 0
    """How many pods there should be; in full health ``expected - desired`` of them may be down."""
    reserved: frozenset[str] = frozenset()
    """The pods that have a place in it already, by name, though they may still look healthy."""
    selector: LabelSelector | None = None
    target: Target | None = None
    ignored: LabelSelector | None = None
    """Pods that a PodUnavailableBudget does not cover."""
    unready: UnreadyPolicy = ""
    """``unhealthyPodEvictionPolicy``. A PodUnavailableBudget always lets such a pod go."""
    protects_updates: bool = True
    """Whether a change of a pod in place counts; always for a PodDisruptionBudget."""

    @property
    def key(self) -> BudgetKey:
        """Kind, namespace and name."""
        return self.kind, self.namespace, self.name

    @property
    def batch(self) -> int:
        """How many pods that are not ready may be restarted at a time: as many as may be down in full health.

        A budget that lets none go lets one such pod be restarted: it protects pods that serve, and this one does not
        and would not without a restart.
        """
        return max(1, self.expected - self.desired)


def read_disruption_budget(obj: dict[str, Any]) -> Budget:
    """Reads a policy/v1.PodDisruptionBudget. Without a selector it covers no pod, with an empty one all."""
    read = msgspec.convert(obj, _Budget, strict=False)
    status = read.status or _Status()
    return Budget(
        kind="PodDisruptionBudget",
        namespace=read.metadata.namespace,
        name=read.metadata.name,
        uid=read.metadata.uid,
        resource_version=read.metadata.resource_version,
        has_status=status.observed_generation is not None,
        is_current=(status.observed_generation or 0) >= read.metadata.generation,
        allowed=status.disruptions_allowed,
        healthy=status.current_healthy,
        desired=status.desired_healthy,
        expected=status.expected_pods,
        reserved=frozenset(status.disrupted_pods),
        selector=read.spec.selector,
        unready=unready_policy(read.spec.unhealthy_pod_eviction_policy),
    )


def read_unavailable_budget(obj: dict[str, Any]) -> Budget:
    """Reads a PodUnavailableBudget of either version."""
    read = msgspec.convert(obj, _Budget, strict=False)
    status = read.status or _Status()
    operations = read.spec.protect_operations or read.metadata.annotations.get(PUB_OPERATIONS, "").split(",")
    operations = [each.strip() for each in operations if each.strip()]
    return Budget(
        kind="PodUnavailableBudget",
        namespace=read.metadata.namespace,
        name=read.metadata.name,
        uid=read.metadata.uid,
        resource_version=read.metadata.resource_version,
        # OpenKruise's controller writes the generation with its first status.
        has_status=bool(status.observed_generation),
        is_current=(status.observed_generation or 0) >= read.metadata.generation,
        allowed=status.unavailable_allowed,
        healthy=status.current_available,
        desired=status.desired_available,
        expected=status.total_replicas,
        reserved=frozenset(status.disrupted_pods) | frozenset(status.unavailable_pods),
        selector=read.spec.selector,
        target=read.spec.target_ref,
        ignored=read.spec.ignored_pod_selector,
        unready="AlwaysAllow",
        protects_updates=not operations or "UPDATE" in operations,
    )


def unready_policy(word: str) -> UnreadyPolicy:
    """Reads ``unhealthyPodEvictionPolicy``. A word of a later release counts as the stricter one."""
    match word:
        case "" | "AlwaysAllow":
            return word
        case _:
            return "IfHealthyBudget"
