"""The objects beside the workloads: only the fields that rules read. Everything else in them is passed over."""

from collections.abc import Mapping
from typing import Any

import msgspec

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.selector import LabelSelector


class Neighbour(Object, frozen=True, kw_only=True):
    """The part that every object has."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


class ServicePort(Object, frozen=True, kw_only=True):
    """One port of a Service."""

    name: str = ""
    port: int = 0
    target_port: IntOrString | None = None
    """None: ``port``."""
    protocol: str = "TCP"

    @property
    def target(self) -> IntOrString:
        """The port of the pods, a number or a name."""
        return self.target_port or self.port


class ServiceSpec(Object, frozen=True, kw_only=True):
    """The part of a Service that decides which pods get its traffic."""

    selector: dict[str, str] | None = None
    """None or empty: it selects no pod."""
    ports: list[ServicePort] = msgspec.field(default_factory=list)
    publish_not_ready_addresses: bool = False
    type: str = "ClusterIP"
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    """``None`` for a headless Service."""


class Service(Neighbour, frozen=True, kw_only=True):
    """A v1.Service."""

    spec: ServiceSpec = ServiceSpec()


class DisruptionBudgetSpec(Object, frozen=True, kw_only=True):
    """The part of a PodDisruptionBudget that rules read."""

    selector: LabelSelector | None = None
    """None: it selects no pod."""
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class DisruptionBudget(Neighbour, frozen=True, kw_only=True):
    """A policy/v1.PodDisruptionBudget, or OpenKruise's PodUnavailableBudget, which limits restarts too."""

    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()

    def selects(self, labels: Mapping[str, str]) -> bool:
        """True if it counts pods with these labels."""
        return self.spec.selector is not None and self.spec.selector.matches(labels)


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
