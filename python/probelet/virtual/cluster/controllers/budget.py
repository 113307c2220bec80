"""The status that a PodDisruptionBudget's controller writes (pkg/controller/disruption, 1.36)."""

from collections.abc import Iterable, Mapping

import msgspec

from probelet.spec.model.disruption_budget import DisruptionBudget
from probelet.spec.rules.scaled import scaled
from probelet.virtual.cluster.controllers.workload import Workload
from probelet.virtual.cluster.node.pod import ClusterPod


class BudgetStatus(msgspec.Struct, frozen=True):
    """``currentHealthy``, ``desiredHealthy``, ``expectedPods`` and ``disruptionsAllowed``."""

    healthy: int
    desired: int
    expected: int

    @property
    def allowed(self) -> int:
        """How many more pods may go."""
        return max(0, self.healthy - self.desired)


def status_of_budget(
    budget: DisruptionBudget, namespace: str, pods: Iterable[ClusterPod], workloads: Mapping[str, Workload]
) -> BudgetStatus:
    """The status of a budget of a namespace."""
    chosen = [
        each
        for each in pods
        if not each.is_gone
        and each.pod.metadata.namespace == namespace
        and budget.spec.selects(each.pod.metadata.labels)
    ]
    expected = sum(workloads[name].wanted for name in {each.workload for each in chosen})
    healthy = sum(each.is_ready and not each.is_terminating for each in chosen)
    if budget.spec.max_unavailable is not None:
        desired = expected - scaled(budget.spec.max_unavailable, expected, default=0, up=True)
    else:
        desired = scaled(budget.spec.min_available, expected, default=0, up=True)
    return BudgetStatus(healthy, desired, expected)
