"""Labels and annotations of containers and sandboxes: the pod they belong to, and the restart count.

Kubelet pkg/kubelet/kuberuntime/labels.go and k8s.io/kubelet/pkg/types/labels.go, 1.36. The runtime is the only memory
of restart counts, so probelet can be restarted while the runtime goes on, as a kubelet can.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from probelet.policy.rules.restart import definition
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod

POD_NAME: Final = "io.kubernetes.pod.name"
POD_NAMESPACE: Final = "io.kubernetes.pod.namespace"
POD_UID: Final = "io.kubernetes.pod.uid"
CONTAINER_NAME: Final = "io.kubernetes.container.name"

HASH: Final = "io.kubernetes.container.hash"
RESTART_COUNT: Final = "io.kubernetes.container.restartCount"
COUNT: Final = re.compile(r"[0-9]{1,10}")
RESTART_COUNT_MAX: Final = 2**31 - 1
"""The largest restart count of the API, an int32. A count beyond it is none, and the next instance begins at 0."""

MESSAGE_PATH: Final = "io.kubernetes.container.terminationMessagePath"
MESSAGE_POLICY: Final = "io.kubernetes.container.terminationMessagePolicy"
PORTS: Final = "io.kubernetes.container.ports"
PRE_STOP: Final = "io.kubernetes.container.preStopHandler"
POD_GRACE: Final = "io.kubernetes.pod.terminationGracePeriod"

Sandbox: TypeAlias = api_pb2.PodSandbox | api_pb2.PodSandboxStatus
"""A sandbox as a list has it, and as its own status has it: both have labels and metadata."""

NODE: Final = "probelet.dev/node"
"""The probelet that a sandbox belongs to: on a runtime that a kubelet uses too, probelet touches its own only."""


def sandbox_labels(pod: Pod, node: str) -> dict[str, str]:
    """The pod's own labels, the three that identify it, and the node."""
    return {**pod.metadata.labels, **_identity(pod), NODE: node}


def container_labels(pod: Pod, container: Container) -> dict[str, str]:
    """The four labels that identify a container."""
    return {**_identity(pod), CONTAINER_NAME: container.name}


def container_annotations(pod: Pod, container: Container, restart_count: int) -> dict[str, str]:
    """Returns the part of a container's definition that a restarted probelet, and a tool that reads the runtime,
    finds."""
    annotations = {
        HASH: definition(container),
        RESTART_COUNT: str(restart_count),
        MESSAGE_PATH: container.termination_message_path,
        MESSAGE_POLICY: container.termination_message_policy,
    }
    grace = pod.spec.termination_grace_period_seconds
    if grace is not None:
        annotations[POD_GRACE] = str(grace)
    if container.lifecycle is not None and container.lifecycle.pre_stop is not None:
        annotations[PRE_STOP] = msgspec.json.encode(container.lifecycle.pre_stop).decode()
    if container.ports:
        annotations[PORTS] = msgspec.json.encode(container.ports).decode()
    return annotations


def restart_count(annotations: Mapping[str, str]) -> int:
    """The restart count from a container's annotations; 0 if they have none."""
    return count_in(annotations.get(RESTART_COUNT, "")) or 0


def pod_uid(sandbox: Sandbox) -> str:
    """The UID of a sandbox's pod; empty for a sandbox of nobody's pod."""
    return sandbox.labels.get(POD_UID, sandbox.metadata.uid)


def is_of(node: str, sandbox: Sandbox) -> bool:
    """Whether a sandbox bears the label of this node, so that a probelet of this node made it."""
    return sandbox.labels.get(NODE) == node


def count_in(text: str) -> int | None:
    """The restart count that a text is, in an annotation or the name of a log; None if it is no count."""
    count = int(text) if COUNT.fullmatch(text) else -1
    return count if 0 <= count <= RESTART_COUNT_MAX else None


def sandboxes_of(node: str) -> api_pb2.PodSandboxFilter:
    """The filter for the sandboxes that a probelet of this node has made."""
    return api_pb2.PodSandboxFilter(label_selector={NODE: node})


def _identity(pod: Pod) -> dict[str, str]:
    return {POD_NAME: pod.metadata.name, POD_NAMESPACE: pod.metadata.namespace, POD_UID: pod.metadata.uid}
