"""A taken-over pod as people who look at the whole cluster need it: where it is, and whether its gate is open."""

from typing import Any

import msgspec

from probelet.beside.takeover.names import CONDITION, MIRROR_ANNOTATION, PROBES_ANNOTATION


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""
    uid: str = ""
    annotations: dict[str, str] | None = None


class _Condition(msgspec.Struct):
    type: str
    status: str


class _Status(msgspec.Struct):
    phase: str | None = None
    conditions: list[_Condition] | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec
    status: _Status | None = None


class TakenPod(msgspec.Struct, frozen=True, gc=False):
    """A taken-over pod that is bound to a node and has not ended."""

    namespace: str
    name: str
    uid: str
    node: str
    ready: bool
    """The condition of its readiness gate."""


def taken_pod(found: dict[str, Any]) -> TakenPod | None:
    """The pod, or None for one that is not taken over, not bound, or over. Raises msgspec.ValidationError."""
    annotations = (found.get("metadata") or {}).get("annotations") or {}
    if PROBES_ANNOTATION not in annotations or MIRROR_ANNOTATION in annotations:
        return None
    pod = msgspec.convert(found, _Pod)
    status = pod.status or _Status()
    if not pod.spec.node_name or status.phase in ("Succeeded", "Failed"):
        return None
    ready = any(each.type == CONDITION and each.status == "True" for each in status.conditions or ())
    meta = pod.metadata
    return TakenPod(meta.namespace, meta.name, meta.uid, pod.spec.node_name, ready)
