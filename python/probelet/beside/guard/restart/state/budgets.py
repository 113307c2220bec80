"""Whether the budgets that cover a pod let it go down (R-B)."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from probelet.beside.guard.objects.budget import Budget, BudgetKey, BudgetKind, UnreadyPolicy
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.restart.protocol.inputs import Readable
from probelet.beside.guard.restart.protocol.reason import Reason
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.state.workloads import WorkloadKey

LAG_NS: Final = 10_000_000_000
"""A budget's controller writes a status after a pod became unready. A status that came sooner after it than this may
have been made before; the controllers need well below a second."""
STATUSLESS_NS: Final = 300_000_000_000
"""A budget without a status blocks so long. Then nobody keeps it, and it is left out with a warning."""

KINDS: Final[tuple[BudgetKind, ...]] = ("PodUnavailableBudget", "PodDisruptionBudget")

_POLICY: Final[Mapping[str, UnreadyPolicy]] = {"alwaysAllow": "AlwaysAllow", "ifHealthyBudget": "IfHealthyBudget"}
"""The words of the setting, in lower case as those of the other settings."""


def gates(key: BudgetKey) -> tuple[Hashable, Hashable]:
    """The gates at which pods wait for a budget: first that of ready pods, then that of the others. Each has a rule of
    its own, so a refusal at one gate says nothing about the pods at the other one."""
    return key, (key, "unready")


class Down(Protocol):
    """The restarts under way, as far as the gate needs them."""

    def in_flight(self, namespace: str) -> Iterator[tuple[GuardedPod, WorkloadKey]]:
        """The pods of a namespace that are being restarted."""

    def unready_ns(self, uid: str) -> int | None:
        """When a pod became unready; None while it is ready."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a budget keeps a pod from going down."""

    reason: Reason
    message: str
    gate: Hashable = None


@dataclass(slots=True)
class _Kept:
    budget: Budget
    changed_ns: int
    first_ns: int


class Budgets:
    """The budgets of the cluster."""

    def __init__(self) -> None:
        self._kept: defaultdict[str, dict[BudgetKey, _Kept]] = defaultdict(dict)
        self._readable: dict[BudgetKind, Readable] = dict.fromkeys(KINDS, "served")

    def change(self, key: BudgetKey, budget: Budget | None, now: int) -> None:
        """Take in a budget; None: it is gone."""
        of_namespace = self._kept[key[1]]
        before = of_namespace.get(key)
        if budget is None:
            of_namespace.pop(key, None)
        else:
            of_namespace[key] = _Kept(budget, now, now if before is None else before.first_ns)

    def readable(self, kind: BudgetKind, readable: Readable) -> None:
        """Say whether budgets of a kind can be read."""
        self._readable[kind] = readable

    def covering(self, pod: GuardedPod, workload: WorkloadKey) -> list[Budget]:
        """The budgets that cover a pod, in order of kind and name."""
        found = [each.budget for each in self._kept.get(pod.namespace, {}).values() if _covers(each, pod, workload)]
        return sorted((each for each in found if self._readable[each.kind] != "absent"), key=lambda each: each.key)

    def without_status(self, pod: GuardedPod, workload: WorkloadKey, now: int) -> list[Budget]:
        """The budgets that cover a pod and are left out, because nobody writes their status."""
        of_namespace = self._kept.get(pod.namespace, {})
        return [
            each
            for each in self.covering(pod, workload)
            if not each.has_status and now - of_namespace[each.key].first_ns >= STATUSLESS_NS
        ]

    def check(
        self,
        pod: GuardedPod,
        workload: WorkloadKey,
        down: Down,
        now: int,
        *,
        config: Config,
        placed: Collection[BudgetKey],
    ) -> Refusal | None:
        """None if the pod may go down; every budget that covers it has to allow it. ``placed``: the budgets into which
        its restart was written just now. A place from an earlier restart may be about to expire, so it does not
        count."""
        for kind in KINDS:
            if self._readable[kind] == "unreadable":
                return Refusal("BudgetUnknown", f"the {kind}s cannot be read")
        covering = self.covering(pod, workload)
        if not covering and config.budget_missing == "deny":
            return Refusal("BudgetDenied", "no budget covers the pod, and budget.missing is deny")
        for budget in covering:
            if budget.key in placed:
                continue
            refusal = self._check(budget, pod, down, now, config)
            if refusal is not None:
                return refusal
        return None

    def _check(self, budget: Budget, pod: GuardedPod, down: Down, now: int, config: Config) -> Refusal | None:
        kept, name = self._kept[budget.namespace][budget.key], f"{budget.kind} {budget.name}"
        gate = gates(budget.key)[not pod.is_ready]
        if not budget.has_status:
            if now - kept.first_ns >= STATUSLESS_NS:
                return None
            return Refusal("BudgetUnknown", f"{name} has no status", gate)
        if not budget.is_current:
            return Refusal("BudgetUnknown", f"the status of {name} is older than its spec", gate)
        if not pod.is_ready and _lets_unready(budget, config):
            count = sum(_covers(kept, each, root) for each, root in down.in_flight(budget.namespace))
            if count < budget.batch:
                return None
            text = f"{name}: {count} of its pods are being restarted; of pods that are not ready at most {budget.batch}"
            return Refusal("BudgetDenied", f"{text} at a time", gate)
        unseen = self._unseen(kept, down, now)
        if budget.allowed - unseen >= 1:
            return None
        text = f"{name} allows {budget.allowed} more"
        if unseen:
            text += f"; restarts that its status does not show yet: {unseen}"
        return Refusal("BudgetDenied", text, gate)

    def _unseen(self, kept: _Kept, down: Down, now: int) -> int:
        """Our restarts that the budget's status does not show yet."""
        count = 0
        for pod, workload in down.in_flight(kept.budget.namespace):
            if not _covers(kept, pod, workload) or pod.name in kept.budget.reserved:
                continue
            since = down.unready_ns(pod.uid)
            count += since is None or kept.changed_ns < since or now - since < LAG_NS
        return count


def _covers(kept: _Kept, pod: GuardedPod, workload: WorkloadKey) -> bool:
    budget = kept.budget
    if budget.kind == "PodDisruptionBudget":
        return budget.selector is not None and budget.selector.matches(pod.labels)
    if pod.is_unprotected or not budget.protects_updates:
        return False
    if budget.has_status and budget.is_current and budget.desired == 0:
        return False
    if budget.ignored is not None and budget.ignored.matches(pod.labels):
        return False
    if pod.budget:
        return pod.budget == budget.name
    if budget.target is not None:
        return (budget.target.kind, budget.target.name) == (workload.kind, workload.name)
    # An empty selector is refused by OpenKruise, so it selects nothing here.
    selector = budget.selector
    return (
        selector is not None
        and bool(selector.match_labels or selector.match_expressions)
        and selector.matches(pod.labels)
    )


def _lets_unready(budget: Budget, config: Config) -> bool:
    """Whether a budget lets a pod go that is not ready, and so no longer counts (eviction API, 1.36). The setting
    speaks only where the budget itself does not."""
    if (budget.unready or _POLICY[config.budget_unready]) == "AlwaysAllow":
        return True
    return budget.healthy >= budget.desired > 0
