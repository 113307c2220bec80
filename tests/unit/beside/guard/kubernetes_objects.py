"""Kubernetes objects for the tests of enhanced liveness, as an API server gives them."""

from typing import Any

from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.beside.guard.objects.pod import GuardedPod, read_pod

EXEC_ENTRY = '{"name":"c1","livenessProbe":{"exec":{"command":["/healthy.sh"]}}}'
TCP_ENTRY = '{"name":"c2","livenessProbe":{"tcpSocket":{"port":"web"}}}'


def pod_object(
    name: str = "pod1",
    *,
    namespace: str = "default",
    uid: str = "",
    node: str = "node1",
    ip: str = "1.1.1.1",
    context: str | None = f"[{EXEC_ENTRY}]",
    opt_in: str | None = "true",
    phase: str = "Running",
    containers: tuple[str, ...] = ("c1", "c2"),
    deleted: bool = False,
) -> dict[str, Any]:
    """A pod that opted in, with two containers, the second of which names its port."""
    annotations = {OPT_IN: opt_in, CONTEXT: context}
    meta: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-{name}",
        "annotations": {key: value for key, value in annotations.items() if value is not None},
        "creationTimestamp": None,
    }
    if deleted:
        meta["deletionTimestamp"] = "2026-11-22T10:00:00Z"
    listed = [{"name": each, "ports": [{"name": "web", "containerPort": 8080}]} for each in containers]
    return {
        "metadata": meta,
        "spec": {"nodeName": node, "containers": listed, "restartPolicy": "Always"},
        "status": {"phase": phase, "podIP": ip},
    }


def pod(name: str = "pod1", **fields: Any) -> GuardedPod:
    """The same as the machines read it."""
    read = read_pod(pod_object(name, **fields))
    assert read is not None
    return read
