"""A policy/v1.PodDisruptionBudget (Kubernetes 1.36)."""

from collections.abc import Mapping

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.selector import LabelSelector


class DisruptionBudgetSpec(Object, frozen=True, kw_only=True):
    """How many pods evictions must leave."""

    selector: LabelSelector | None = None
    """None: it selects no pod."""
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str = ""

    def selects(self, labels: Mapping[str, str]) -> bool:
        """True if it counts pods with these labels."""
        return self.selector is not None and self.selector.matches(labels)


class DisruptionBudget(Object, frozen=True, kw_only=True):
    """A PodDisruptionBudget without its status."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
