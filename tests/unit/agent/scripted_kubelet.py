"""A kubelet's part of a node: it makes sandboxes and containers on the scripted runtime and writes their statuses."""

import itertools
import json
from typing import Any

from probelet.base.exposition.timestamp import rfc3339
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import labels

from tests.unit.node.scripted_runtime import ScriptedRuntime

_STATES = {
    api_pb2.CONTAINER_RUNNING: "running",
    api_pb2.CONTAINER_EXITED: "terminated",
    api_pb2.CONTAINER_CREATED: "waiting",
}


class ScriptedKubelet:
    """Pods that nobody but a kubelet starts. Its sandboxes do not bear the label of a probelet."""

    def __init__(self, runtime: ScriptedRuntime) -> None:
        self.runtime = runtime
        self._ids = itertools.count()

    def sandbox(self, pod: dict[str, Any], ip: str = "127.0.0.1") -> str:
        """Makes a ready sandbox; returns its ID."""
        meta, id = pod["metadata"], f"sandbox{next(self._ids)}"
        self.runtime.sandboxes[id] = api_pb2.PodSandboxStatus(
            id=id,
            metadata=api_pb2.PodSandboxMetadata(name=meta["name"], namespace=meta["namespace"], uid=meta["uid"]),
            labels=_identity(pod),
            state=api_pb2.SANDBOX_READY,
            created_at=self.runtime.wall_ns(),
            network=api_pb2.PodSandboxNetworkStatus(ip=ip),
        )
        return id

    def start(self, pod: dict[str, Any], container: str = "app", *, count: int = 0, sandbox: str = "") -> str:
        """Starts an instance of a container in the pod's newest sandbox, or a new one; returns its bare ID."""
        uid = pod["metadata"]["uid"]
        mine = [id for id, box in self.runtime.sandboxes.items() if labels.pod_uid(box) == uid]
        sandbox = sandbox or (mine[-1] if mine else self.sandbox(pod))
        id, now = f"container{next(self._ids)}", self.runtime.wall_ns()
        self.runtime.sandbox_of[id] = sandbox
        self.runtime.containers[id] = api_pb2.ContainerStatus(
            id=id,
            metadata=api_pb2.ContainerMetadata(name=container),
            state=api_pb2.CONTAINER_RUNNING,
            created_at=now,
            started_at=now,
            labels={**_identity(pod), labels.CONTAINER_NAME: container},
            annotations={labels.RESTART_COUNT: str(count), **_noted(pod, container)},
        )
        self.runtime.publish(sandbox, id, api_pb2.CONTAINER_STARTED_EVENT)
        return id

    def remove(self, pod: dict[str, Any]) -> None:
        """Removes everything of a pod."""
        uid = pod["metadata"]["uid"]
        for id in [id for id, found in self.runtime.containers.items() if found.labels[labels.POD_UID] == uid]:
            del self.runtime.containers[id]
        for id in [id for id, box in self.runtime.sandboxes.items() if labels.pod_uid(box) == uid]:
            del self.runtime.sandboxes[id]

    def status(self, pod: dict[str, Any], *, started: bool = True) -> dict[str, Any]:
        """The status as the kubelet writes it; ``started`` is false while a postStart hook runs."""
        rows = [self._row(pod, each["name"], started) for each in pod["spec"]["containers"]]
        init = [self._row(pod, each["name"], started) for each in pod["spec"].get("initContainers", ())]
        return {"phase": "Running", "containerStatuses": rows, "initContainerStatuses": init}

    def _row(self, pod: dict[str, Any], container: str, started: bool) -> dict[str, Any]:
        found = [
            status
            for status in self.runtime.containers.values()
            if status.labels[labels.POD_UID] == pod["metadata"]["uid"] and status.metadata.name == container
        ]
        if not found:
            return {"name": container, "state": {"waiting": {"reason": "ContainerCreating"}}, "started": False}
        newest = found[-1]
        state = _STATES[newest.state]
        inner = {
            "running": {"startedAt": rfc3339(newest.started_at // 1_000_000)},
            "terminated": {"exitCode": newest.exit_code},
            "waiting": {"reason": "CrashLoopBackOff", "message": "back-off"},
        }[state]
        return {
            "name": container,
            "containerID": f"scripted://{newest.id}",
            "state": {state: inner},
            "started": started and state == "running",
            "ready": started and state == "running",
            "restartCount": labels.restart_count(newest.annotations),
        }


def _noted(pod: dict[str, Any], container: str) -> dict[str, str]:
    """What a kubelet notes of a container's definition in the runtime (kuberuntime labels.go, 1.36)."""
    spec = next(
        each for each in pod["spec"]["containers"] + pod["spec"].get("initContainers", []) if each["name"] == container
    )
    noted = {labels.POD_GRACE: str(pod["spec"]["terminationGracePeriodSeconds"])}
    if hook := spec.get("lifecycle", {}).get("preStop"):
        noted[labels.PRE_STOP] = json.dumps(hook)
    if ports := spec.get("ports"):
        noted[labels.PORTS] = json.dumps(ports)
    return noted


def _identity(pod: dict[str, Any]) -> dict[str, str]:
    meta = pod["metadata"]
    return {
        labels.POD_NAME: meta["name"],
        labels.POD_NAMESPACE: meta["namespace"],
        labels.POD_UID: meta["uid"],
    }
