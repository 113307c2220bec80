"""A container's environment, command and arguments, with ``$(VAR)`` expanded.

Kubelet pkg/kubelet/kubelet_pods.go:makeEnvironmentVariables, container/helpers.go:ExpandContainerCommandAndArgs and
third_party/forked/golang/expansion, 1.36.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from probelet._rust import expand
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.rules.downward import ENTRY, readable_field


@dataclass(frozen=True, slots=True)
class Place:
    """Where a container runs, for the variables that do not follow from its pod. An unknown address is empty."""

    node: str = ""
    pod_ip: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    """Variables that the runtime sets itself. The manifest's variables replace them."""


def environment(pod: Pod, container: Container, place: Place) -> dict[str, str]:
    """The variables of a container's manifest; of a name that is listed twice the last value counts.

    A reference means a variable listed before it, else a given one. A variable whose source cannot be read here (a
    ConfigMap, a Secret, a resource) is left unset.
    """
    variables: dict[str, str] = {}
    for entry in container.env:
        value: str | None = entry.value
        if entry.value:
            value = expand(entry.value, {**place.given, **variables})
        elif entry.value_from is not None:
            path = readable_field(entry.value_from)
            value = None if path is None else _field(path, pod, place)
        if value is not None:
            variables[entry.name] = value
    return variables


def expanded(texts: list[str], variables: dict[str, str]) -> list[str]:
    """A command, or its arguments, with every text expanded."""
    return [expand(text, variables) for text in texts]


def _field(path: str, pod: Pod, place: Place) -> str:
    meta = pod.metadata
    match path:
        case "metadata.name":
            return meta.name
        case "metadata.namespace":
            return meta.namespace
        case "metadata.uid":
            return meta.uid
        case "spec.nodeName":
            return place.node
        case "status.podIP" | "status.podIPs":
            return place.pod_ip
    entry = ENTRY.fullmatch(path)
    assert entry is not None, "readable_field knows no others"
    return (meta.labels if entry["map"] == "labels" else meta.annotations).get(entry["key"], "")
