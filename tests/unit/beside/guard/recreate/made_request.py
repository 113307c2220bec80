"""Requests, pods and views of a node, as the tests of this folder need them."""

import json
from typing import Any

from probelet.beside.guard.names import ACTIVE, NODE_NAME, POD_UID, SNAPSHOT, UNREADY_ACQUIRED
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.recreate_request import RecreateRequest, read_request
from probelet.beside.guard.objects.requested_pod import RequestedPod, read_requested_pod
from probelet.beside.guard.recreate.situation import Instance, ObservedPod

Json = dict[str, Any]
SECOND = 1_000_000_000
CREATED = 1_795_000_000 * SECOND
"""When every request was created, on the API server's clock."""
OLD, NEW = "containerd://old", "containerd://new"


def request_object(*containers: str, name: str = "again", status: Json | None = None, **spec: Any) -> Json:
    """A request as the admission leaves it, for the instance ``containerd://old-NAME`` of each container."""
    meta = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "7",
        "creationTimestamp": text(CREATED),
        "labels": {ACTIVE: "true", NODE_NAME: "worker-1", POD_UID: "uid-web", **spec.pop("labels", {})},
        "annotations": spec.pop("annotations", {}),
        "finalizers": spec.pop("finalizers", []),
    }
    meta |= {"deletionTimestamp": text(CREATED)} if spec.pop("is_deleting", False) else {}
    listed = [{"name": each, "statusContext": context(each)} for each in containers or ("app",)]
    strategy = {"failurePolicy": "Fail", **spec.pop("strategy", {})}
    given = {"podName": "web", "containers": listed, "strategy": strategy, **spec}
    return {"metadata": meta, "spec": given, "status": status or {}}


def made(*containers: str, **given: Any) -> RecreateRequest:
    return read_request(request_object(*containers, **given))


def context(name: str) -> Json:
    return {"containerID": f"{OLD}-{name}", "restartCount": 0}


def recreating(*states: Json) -> Json:
    return {"phase": "Recreating", "containerRecreateStates": list(states)}


def snapshot_of(*rows: Json) -> dict[str, str]:
    return {SNAPSHOT: json.dumps(rows)}


def seen(name: str, id: str = "", *, ready: bool = True) -> Json:
    return {"name": name, "ready": ready, "restartCount": 1, "containerID": id or f"{NEW}-{name}"}


def old(name: str, **more: Any) -> Instance:
    return Instance(f"{OLD}-{name}", **more)


def new(name: str, **more: Any) -> Instance:
    return Instance(f"{NEW}-{name}", restart_count=1, **more)


def view(**given: Any) -> ObservedPod:
    """The node's view; ``instances`` by container."""
    return ObservedPod(**{"wall_ms": 1_000_000, **given})


def pod_object(*containers: str, gate: bool = False, conditions: list[Json] | None = None, **given: Any) -> Json:
    """The pod; each container runs as the instance that the request means, or as ``running`` says."""
    running = given.pop("running", {})
    statuses = [_status(each, running.get(each, f"{OLD}-{each}")) for each in containers or ("app",)]
    meta = {"name": "web", "namespace": "default", "uid": given.pop("uid", "uid-web"), "resourceVersion": "9"}
    meta |= {"deletionTimestamp": text(CREATED)} if given.pop("is_terminating", False) else {}
    spec = {
        "nodeName": "worker-1",
        "terminationGracePeriodSeconds": 30,
        "containers": [{"name": each, "image": "i"} for each in containers or ("app",)],
        "readinessGates": [{"conditionType": "KruisePodReady"}] if gate else [],
        **given.pop("spec", {}),
    }
    status = {"phase": "Running", "containerStatuses": statuses, "conditions": conditions or [], **given}
    return {"metadata": meta, "spec": spec, "status": status}


def _status(name: str, id: str) -> Json:
    count = 0 if id.startswith(OLD) else 1
    state = {"running": {"startedAt": text(CREATED)}} if id else {"terminated": {"exitCode": 137}}
    return {"name": name, "containerID": id, "restartCount": count, "ready": bool(id), "state": state}


def made_pod(*containers: str, **given: Any) -> RequestedPod:
    return read_requested_pod(pod_object(*containers, **given))


def acquired(seconds: int = 0) -> dict[str, str]:
    return {UNREADY_ACQUIRED: text(CREATED + seconds * SECOND)}
