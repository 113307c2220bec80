"""A container's environment, command and arguments, with ``$(VAR)`` expanded.

Kubelet pkg/kubelet/kubelet_pods.go:makeEnvironmentVariables, container/helpers.go:ExpandContainerCommandAndArgs and
third_party/forked/golang/expansion, 1.36.
"""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from probelet._rust import expand
from probelet.errors import InvalidInputError
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.rules.downward import ENTRY, readable_field

PROGRAM_BYTES_MAX: Final = 6 * 1024 * 1024
"""The arguments and variables of a program: Linux passes no more, whatever the limit of its stack (execve(2))."""


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
    ConfigMap, a Secret, a resource) is left unset. Raises OSError for more than a program can have.
    """
    variables: dict[str, str] = {}
    known = dict(place.given)
    size = 0
    for entry in container.env:
        value: str | None = entry.value
        if entry.value:
            value = _expand(entry.value, known)
        elif entry.value_from is not None:
            path = readable_field(entry.value_from)
            value = None if path is None else _field(path, pod, place)
        if value is not None:
            variables[entry.name] = known[entry.name] = value
            size = _checked(size + len(value))
    return variables


def expanded(texts: list[str], variables: dict[str, str]) -> list[str]:
    """A command, or its arguments, with every text expanded. Raises OSError for more than a program can have."""
    found, size = [], 0
    for text in texts:
        found.append(_expand(text, variables))
        size = _checked(size + len(found[-1]))
    return found


def _expand(text: str, variables: dict[str, str]) -> str:
    try:
        return expand(text, variables)
    except InvalidInputError as error:
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG)) from error


def _checked(size: int) -> int:
    """Variables that name each other can ask for more than a machine has: the answer is the system's own."""
    if size > PROGRAM_BYTES_MAX:
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
    return size


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
