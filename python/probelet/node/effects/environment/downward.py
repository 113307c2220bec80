"""The downward API in variables: fields of the pod, and resources of its containers.

Kubelet pkg/kubelet/kubelet_pods.go:podFieldSelectorRuntimeValue, kubelet_resources.go:defaultPodLimitsForDownwardAPI
and pkg/api/v1/resource/helpers.go:ExtractContainerResourceValue, 1.36.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Final

from probelet.node.effects.environment.config_error import ContainerConfigError
from probelet.node.effects.environment.place import Place
from probelet.spec.model.container import Container
from probelet.spec.model.env import ResourceFieldSelector
from probelet.spec.model.pod import Pod
from probelet.spec.model.resources import ResourceRequirements
from probelet.spec.rules.validate_env import ENTRY
from probelet.spec.text.quantity import parse_quantity

_DEFAULTED: Final = ("cpu", "memory", "ephemeral-storage")
_OF_WHOLE_PODS: Final = ("cpu", "memory")


def field_value(path: str, pod: Pod, place: Place) -> str:
    """The field of the pod with this path; validation has admitted no others."""
    meta, spec = pod.metadata, pod.spec
    match path:
        case "metadata.name":
            return meta.name
        case "metadata.namespace":
            return meta.namespace
        case "metadata.uid":
            return meta.uid
        case "spec.nodeName":
            return place.node
        case "spec.serviceAccountName":
            return spec.service_account_name or spec.service_account
        case "status.hostIP" | "status.hostIPs":
            return place.host_ip
        case "status.podIP" | "status.podIPs":
            return place.pod_ip
    entry = ENTRY.fullmatch(path)
    assert entry is not None, "validation admits no others"
    return (meta.labels if entry["map"] == "metadata.labels" else meta.annotations).get(entry["key"], "")


def resource_value(selector: ResourceFieldSelector, pod: Pod, container: Container, place: Place) -> str:
    """A limit or a request in units of the divisor, rounded up. A limit that is not set is the pod's, or else what the
    node has. Raises ContainerConfigError if the pod has no container of the selector's name."""
    kind, _, name = selector.resource.partition(".")
    amounts = _amounts(selector.container_name, kind, pod, container, place)
    divisor = parse_quantity(selector.divisor) if selector.divisor is not None else Fraction()
    # CPUs count in thousandths and everything else in whole units, each rounded up before the division.
    unit = Fraction(1, 1000) if name == "cpu" else Fraction(1)
    amount, by = ceil(amounts.get(name, Fraction()) / unit), ceil((divisor or Fraction(1)) / unit)
    return str(-(-amount // by))


def _amounts(named: str, kind: str, pod: Pod, container: Container, place: Place) -> dict[str, Fraction]:
    regular = next((found for found in pod.spec.containers if found.name == named), None)
    init = next((found for found in pod.spec.init_containers if found.name == named), None)
    found = container if not named else regular or init
    if found is None:
        raise ContainerConfigError(f"container {named} not found")
    resources = found.resources or ResourceRequirements()
    limits = {name: parse_quantity(amount) for name, amount in resources.limits.items()}
    if kind == "requests":
        # A request that is not set is the limit that is, as the API server defaults it.
        return {**limits, **{name: parse_quantity(amount) for name, amount in resources.requests.items()}}
    # As in the kubelet, an init container that another one names has no other limits than its own.
    default = {} if named and regular is None else _allocatable(pod, place.allocatable)
    return {**limits, **{name: default[name] for name in _DEFAULTED if name in default and not limits.get(name)}}


def _allocatable(pod: Pod, node: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Returns the node's allocatable amounts, or the limits of the whole pod."""
    of_pod = pod.spec.resources.limits if pod.spec.resources is not None else {}
    own = {name: parse_quantity(of_pod[name]) for name in _OF_WHOLE_PODS if name in of_pod}
    return {**node, **{name: amount for name, amount in own.items() if amount and name in node}}
