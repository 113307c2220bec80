"""A taken-over pod as people who look at the whole cluster need it: where it is, and whether its gate is open."""

import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from probelet.beside.takeover.names import CONDITION, MIRROR_ANNOTATION, PROBES_ANNOTATION
from probelet.spec.model.pod import PodStatus
from probelet.spec.model.pod_object import PodObject, annotations_of, identity, read_pod_object


class TakenPod(msgspec.Struct, frozen=True, gc=False):
    """A taken-over pod that is bound to a node and has not ended."""

    namespace: str
    name: str
    uid: str
    node: str
    ready: bool
    """The condition of its readiness gate."""


def is_taken(annotations: Mapping[str, str]) -> bool:
    """True if a pod with these annotations is taken over, and no kubelet's copy of a pod from a file."""
    return PROBES_ANNOTATION in annotations and MIRROR_ANNOTATION not in annotations


def taken_of(pod: PodObject) -> TakenPod | None:
    """The pod, or None for one that is not taken over, not bound, or over. Raises msgspec.ValidationError."""
    status = pod.status or PodStatus()
    if not is_taken(pod.annotations) or not pod.spec.node_name or status.phase in ("Succeeded", "Failed"):
        return None
    ready = any(each.type == CONDITION and each.status == "True" for each in status.conditions)
    namespace, name, uid = identity(pod)
    return TakenPod(sys.intern(namespace), name, uid, sys.intern(pod.spec.node_name), ready)


def taken_pod(found: dict[str, Any]) -> TakenPod | None:
    """``taken_of`` for a v1.Pod as JSON data; decodes only pods that are taken over."""
    return taken_of(read_pod_object(found)) if is_taken(annotations_of(found)) else None
