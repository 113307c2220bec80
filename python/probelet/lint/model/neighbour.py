"""The objects beside the workloads: only the fields that rules read. Everything else in them is passed over."""

from typing import Any

import msgspec

from probelet.spec.model.disruption_budget import DisruptionBudgetSpec
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.selector import LabelSelector
from probelet.spec.model.service import ServiceSpec


class Neighbour(Object, frozen=True, kw_only=True):
    """The part that every object has."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


class Service(Neighbour, frozen=True, kw_only=True):
    """A v1.Service."""

    spec: ServiceSpec = ServiceSpec()


class ConfigMap(Neighbour, frozen=True, kw_only=True):
    """A v1.ConfigMap."""

    data: dict[str, str] = msgspec.field(default_factory=dict)


class DisruptionBudget(Neighbour, frozen=True, kw_only=True):
    """A policy/v1.PodDisruptionBudget, or OpenKruise's PodUnavailableBudget, which limits restarts too."""

    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()


class ScaleTarget(Object, frozen=True, kw_only=True):
    """The workload that an autoscaler scales."""

    kind: str = ""
    name: str = ""


class AutoscalerSpec(Object, frozen=True, kw_only=True):
    """The part of an autoscaler that rules read."""

    scale_target_ref: ScaleTarget = ScaleTarget()
    min_replicas: int | None = None
    """Default 1."""
    max_replicas: int = 0
    behavior: Any = None


class Autoscaler(Neighbour, frozen=True, kw_only=True):
    """An autoscaling HorizontalPodAutoscaler."""

    spec: AutoscalerSpec = AutoscalerSpec()


class NetworkPolicySpec(Object, frozen=True, kw_only=True):
    """The part of a NetworkPolicy about traffic into pods."""

    pod_selector: LabelSelector = LabelSelector()
    policy_types: list[str] = msgspec.field(default_factory=list)
    """Empty: ``Ingress``, and ``Egress`` if there are rules for it."""
    ingress: list[dict[str, Any]] = msgspec.field(default_factory=list)
    """The rules as written; none lets nothing in."""


class NetworkPolicy(Neighbour, frozen=True, kw_only=True):
    """A networking.k8s.io NetworkPolicy."""

    spec: NetworkPolicySpec = NetworkPolicySpec()
