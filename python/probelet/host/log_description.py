"""The description of a pod for a reader of logs: the document ``probelet-logs/1``."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from probelet.base.logs.pod_logs import DEFAULT_CONTAINER
from probelet.policy.rules.kind import containers
from probelet.policy.status.container_status import ContainerStatus
from probelet.server.control.command import pod_named
from probelet.spec.model.pod import Pod


def described(pod: Pod) -> dict[str, Any]:
    """The pod's containers in the order of a status, and the one that its annotation names."""
    meta = pod.metadata
    return {
        "schema": "probelet-logs/1",
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "default_container": meta.annotations.get(DEFAULT_CONTAINER, ""),
        "containers": [{"name": container.name, "kind": kind} for kind, container in containers(pod)],
    }


class LoggedPod(Protocol):
    """A pod whose containers have logs."""

    full_name: str
    pod: Pod

    @property
    def statuses(self) -> Mapping[str, ContainerStatus]: ...


def logs_of(pods: Iterable[LoggedPod], name: str, log_root: Path) -> dict[str, Any]:
    """The document of the pod with this name, with where its logs are and with the states of its containers. Raises
    NoSuchPodError."""
    found = pod_named(pods, name)
    document = {**described(found.pod), "root": str(log_root)}
    for row in document["containers"]:
        status = found.statuses.get(row["name"]) or ContainerStatus(row["name"], row["kind"])
        row["state"] = status.state
        row["reason"] = status.reason
        row["restart_count"] = status.restart_count
        row["has_exited"] = status.last_exit is not None
    return document
