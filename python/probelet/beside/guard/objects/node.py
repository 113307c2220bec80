"""A node, and a workload."""

from typing import Any

import msgspec

from probelet.beside.guard.names import VIRTUAL_NODE
from probelet.beside.guard.objects.owner import Owner, controller_of
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.pod import PodCondition


class _Status(Object, frozen=True, kw_only=True):
    conditions: list[PodCondition] = msgspec.field(default_factory=list)
    desired_number_scheduled: int | None = None


class _Spec(Object, frozen=True, kw_only=True):
    replicas: int | None = None


class _Object(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: _Status = _Status()


class GuardedNode(msgspec.Struct, frozen=True, gc=False):
    """A node. ``is_ready`` follows its lease: the control plane turns Ready to Unknown 40 s after the last renewal."""

    name: str
    is_ready: bool = True
    is_virtual: bool = False
    """A virtual kubelet, which has no daemon."""


class GuardedWorkload(msgspec.Struct, frozen=True, gc=False):
    """A Deployment, ReplicaSet, StatefulSet, DaemonSet, CloneSet or the like."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    replicas: int | None = None
    """How many pods it should have; None if it does not say."""
    owner: Owner | None = None


def read_node(node: dict[str, Any]) -> GuardedNode:
    """Reads a v1.Node."""
    read = msgspec.convert(node, _Object, strict=False)
    key, value = VIRTUAL_NODE
    return GuardedNode(
        name=read.metadata.name,
        is_ready=any(each.type == "Ready" and each.status == "True" for each in read.status.conditions),
        is_virtual=read.metadata.labels.get(key) == value,
    )


def read_workload(workload: dict[str, Any], api_version: str, kind: str) -> GuardedWorkload:
    """Reads a workload; items of a list do not name their version and kind."""
    read = msgspec.convert(workload, _Object, strict=False)
    meta = read.metadata
    replicas = read.spec.replicas
    return GuardedWorkload(
        api_version=api_version,
        kind=kind,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        replicas=read.status.desired_number_scheduled if replicas is None else replicas,
        owner=controller_of(meta.owner_references),
    )
