"""Decodes the objects beside the workloads."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from probelet.lint.model.neighbour import (
    Autoscaler,
    ConfigMap,
    DisruptionBudget,
    Neighbour,
    NetworkPolicy,
    Service,
)
from probelet.lint.model.route import HTTPRoute, Ingress, VirtualService
from probelet.spec.read.each_object import RawObject
from probelet.spec.read.kinds import group_of
from probelet.spec.read.tree import Node

_TYPES: Final[Mapping[tuple[str, str], type[Neighbour]]] = {
    ("", "Service"): Service,
    ("", "ConfigMap"): ConfigMap,
    ("policy", "PodDisruptionBudget"): DisruptionBudget,
    ("policy.kruise.io", "PodUnavailableBudget"): DisruptionBudget,
    ("autoscaling", "HorizontalPodAutoscaler"): Autoscaler,
    ("networking.k8s.io", "Ingress"): Ingress,
    ("extensions", "Ingress"): Ingress,
    ("networking.k8s.io", "NetworkPolicy"): NetworkPolicy,
    ("gateway.networking.k8s.io", "HTTPRoute"): HTTPRoute,
    ("gateway.networking.k8s.io", "GRPCRoute"): HTTPRoute,
    ("networking.istio.io", "VirtualService"): VirtualService,
}


def neighbour(raw: RawObject) -> Neighbour | None:
    """The object, if rules read its kind. None also for one with a mistake: no rule guesses what it means."""
    cls = _TYPES.get((group_of(raw.version), raw.kind))
    if cls is None:
        return None
    try:
        return msgspec.convert(_without_nulls(raw.root), cls)
    except msgspec.ValidationError:
        return None


def _without_nulls(node: Node) -> Any:
    """The plain value without members that are null: Go's decoder reads them as absent."""
    if isinstance(node.value, list):
        return [_without_nulls(item) for item in node.value]
    if isinstance(node.value, dict):
        return {key: _without_nulls(member.node) for key, member in node.value.items() if member.node.value is not None}
    return node.value
