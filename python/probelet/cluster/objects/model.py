"""The fields of workloads, Services and PodDisruptionBudgets that a virtual cluster reads (Kubernetes 1.36)."""

import msgspec

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Int32, Object, ObjectMeta


class RollingUpdate(Object, frozen=True, kw_only=True):
    """How many pods may be missing, or more than wanted, while a workload is rolled out."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    partition: Int32 = 0
    """Of a StatefulSet: pods with a lower ordinal keep their version."""


class Strategy(Object, frozen=True, kw_only=True):
    """``strategy`` of a Deployment, ``updateStrategy`` of a StatefulSet or DaemonSet."""

    type: str = ""
    """``RollingUpdate`` (default), ``Recreate`` (Deployment) or ``OnDelete`` (the others)."""
    rolling_update: RollingUpdate = RollingUpdate()


class WorkloadSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a workload, whatever its kind."""

    replicas: Int32 | None = None
    min_ready_seconds: Int32 = 0
    progress_deadline_seconds: Int32 | None = None
    """Default 600."""
    paused: bool = False
    strategy: Strategy = Strategy()
    update_strategy: Strategy = Strategy()
    pod_management_policy: str = ""
    """``OrderedReady`` (default) or ``Parallel``."""


class WorkloadObject(Object, frozen=True, kw_only=True):
    """A workload without its template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class ServicePort(Object, frozen=True, kw_only=True):
    """A port of a Service."""

    port: Int32 = 0
    target_port: IntOrString | None = None


class ServiceSpec(Object, frozen=True, kw_only=True):
    """The wanted state of a Service."""

    selector: dict[str, str] = msgspec.field(default_factory=dict)
    ports: list[ServicePort] = msgspec.field(default_factory=list)
    publish_not_ready_addresses: bool = False


class ServiceObject(Object, frozen=True, kw_only=True):
    """A v1.Service."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class MatchExpression(Object, frozen=True, kw_only=True):
    """A requirement of a label selector."""

    key: str = ""
    operator: str = ""
    values: list[str] = msgspec.field(default_factory=list)


class LabelSelector(Object, frozen=True, kw_only=True):
    """Which labels an object must have."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: list[MatchExpression] = msgspec.field(default_factory=list)

    def matches(self, labels: dict[str, str]) -> bool:
        """Whether an object with these labels is selected; an empty selector selects every object."""
        if any(labels.get(key) != value for key, value in self.match_labels.items()):
            return False
        return all(_holds(each, labels) for each in self.match_expressions)


class DisruptionBudgetSpec(Object, frozen=True, kw_only=True):
    """How many pods evictions must leave."""

    selector: LabelSelector = LabelSelector()
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class DisruptionBudget(Object, frozen=True, kw_only=True):
    """A policy/v1.PodDisruptionBudget."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()


def _holds(requirement: MatchExpression, labels: dict[str, str]) -> bool:
    match requirement.operator:
        case "In":
            return labels.get(requirement.key) in requirement.values
        case "NotIn":
            return labels.get(requirement.key) not in requirement.values
        case "Exists":
            return requirement.key in labels
        case _:
            return requirement.key not in labels


def scaled(value: IntOrString | None, of: int, *, default: IntOrString, up: bool) -> int:
    """A number, or a percentage of ``of``, rounded up or down (apimachinery ``GetScaledValueFromIntOrPercent``, 1.36).

    Raises:
        ValueError: it is neither; the text is the API server's.
    """
    value = default if value is None else value
    if isinstance(value, int):
        if value < 0:
            raise ValueError("must be greater than or equal to 0")
        return value
    digits = value.removesuffix("%")
    if digits == value or not digits.isdecimal():
        raise ValueError("a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%')")
    return (of * int(digits) + (99 if up else 0)) // 100
