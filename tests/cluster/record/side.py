"""One side: a namespace of the cluster, as the watch of the comparison with ``run`` looks at an agent."""

from pathlib import Path
from typing import Any

from google.protobuf.message import Message
from probelet.runtime.cri.v1 import api_pb2

from tests.cluster.machine.runtime import ClusterRuntime
from tests.cluster.namespace import Namespace
from tests.kubelet.beside.sides.agent import Rows
from tests.kubelet.beside.sides.kubelet import rows_of

LABEL = "io.kubernetes.pod.namespace"


class RuntimeOfNamespace:
    """The runtime with the containers and sandboxes of one namespace only."""

    def __init__(self, runtime: ClusterRuntime, namespace: str) -> None:
        self._runtime, self._namespace = runtime, namespace
        self.socket, self.inside = runtime.socket, runtime.inside

    def containers(self) -> list[api_pb2.Container]:
        return [one for one in self._runtime.containers() if one.labels[LABEL] == self._namespace]

    def sandboxes(self) -> list[api_pb2.PodSandbox]:
        return [one for one in self._runtime.sandboxes() if one.labels[LABEL] == self._namespace]

    def container_status(self, name: str, *, verbose: bool) -> Message:
        return self._runtime.container_status(name, verbose=verbose)

    def sandbox_status(self, name: str) -> Message:
        return self._runtime.sandbox_status(name)


class NamespaceSide:
    """The pods of a namespace, by the API server and the runtime."""

    def __init__(self, namespace: Namespace) -> None:
        cluster = namespace.cluster
        self._namespace = namespace
        self.runtime = RuntimeOfNamespace(cluster.runtime, namespace.name)
        self.logs: Path = cluster.kubelet.pod_logs

    def rows(self) -> Rows:
        return rows_of({"items": self._namespace.pods()})

    def events(self) -> list[dict[str, Any]]:
        return [_event(event) for event in self._namespace.all_events() if event["involvedObject"]["kind"] == "Pod"]


def _event(event: dict[str, Any]) -> dict[str, Any]:
    about = event["involvedObject"]
    return {
        "pod": about.get("name", ""),
        "field": about.get("fieldPath", ""),
        "type": event["type"],
        "reason": event["reason"],
        "message": event.get("message", ""),
        "count": event.get("count") or 1,
    }
