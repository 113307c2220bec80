"""Pods that asked for probelet and have native probes all the same: the webhook was away or late at their creation."""

from collections.abc import Iterator, Set
from typing import Any

import msgspec

from probelet.beside.guard.mutation import Options, mutate
from probelet.beside.guard.names import OPT_IN
from probelet.beside.takeover.names import (
    MANAGED_LABEL,
    MIRROR_ANNOTATION,
    NOT_TAKEN_OVER_ANNOTATION,
    PROBES_ANNOTATION,
)
from probelet.beside.takeover.patch import patch
from probelet.beside.takeover.view import ViewError
from probelet.spec.model.pod import PodStatus
from probelet.spec.model.pod_object import annotations_of, identity, read_pod_object


class MissedPod(msgspec.Struct, frozen=True, gc=False):
    """A pod that is bound to a node, has not ended, and did not get what it asked for."""

    namespace: str
    name: str
    node: str
    why: str
    """Says what it asked for, in one line."""


def why_missed(found: dict[str, Any], own_namespace: str) -> str:
    """Says what a v1.Pod as JSON data asked for in vain, in a line; empty for nothing. ``own_namespace`` is probelet's.

    A pod whose probes stay native for a reason has the annotation with it, and is not meant.
    """
    asked = ", and for ".join(_asked(found, own_namespace))
    if not asked:
        return ""
    said = f"the pod asks for {asked}, and has native probes"
    return f"{said}: no webhook answered when it was created. A new pod asks again"


def missed_pod(
    found: dict[str, Any], own_namespace: str, asking_namespaces: Set[str] = frozenset()
) -> MissedPod | None:
    """The pod if it was missed, else None. ``asking_namespaces`` are those whose label asks for their pods. Raises
    msgspec.ValidationError."""
    why = why_missed(found, own_namespace) or _missed_with_its_namespace(found, own_namespace, asking_namespaces)
    if not why:
        return None
    pod = read_pod_object(found)
    phase = (pod.status or PodStatus()).phase
    if not pod.spec.node_name or phase in ("Succeeded", "Failed"):
        return None
    namespace, name, _ = identity(pod)
    return MissedPod(namespace, name, pod.spec.node_name, why)


def _missed_with_its_namespace(found: dict[str, Any], own_namespace: str, asking_namespaces: Set[str]) -> str:
    """Says in a line that the namespace of a pod asks for it in vain; empty for a pod with a label of its own. Nothing
    on the object says whether it is older than the namespace's label."""
    metadata = found.get("metadata") or {}
    labels = metadata.get("labels") or {}
    if metadata.get("namespace") not in asking_namespaces or MANAGED_LABEL in labels:
        return ""
    labelled = {**found, "metadata": {**metadata, "labels": {**labels, MANAGED_LABEL: "true"}}}
    if not why_missed(labelled, own_namespace):
        return ""
    said = "its namespace asks for the takeover of its probes, and it has native probes"
    return f"{said}: it is older than the label {MANAGED_LABEL} there, or no webhook answered. A new pod asks again"


def _asked(found: dict[str, Any], own_namespace: str) -> Iterator[str]:
    """Each request that the webhook would still carry out if the pod were created now."""
    metadata, annotations = found.get("metadata") or {}, annotations_of(found)
    if MIRROR_ANNOTATION in annotations:
        return
    is_managed = (metadata.get("labels") or {}).get(MANAGED_LABEL) == "true"
    if is_managed and PROBES_ANNOTATION not in annotations and NOT_TAKEN_OVER_ANNOTATION not in annotations:
        try:
            change = patch(found, namespace=metadata.get("namespace") or "", own_namespace=own_namespace)
        except ViewError:
            return
        if change.result in ("taken-over", "partly"):
            yield f"the takeover of its probes (label {MANAGED_LABEL})"
    if OPT_IN in annotations and mutate(found, Options()).result == "mutated":
        yield f"enhanced liveness (annotation {OPT_IN})"
