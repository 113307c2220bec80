"""The objects of many nodes, as the API server of a large cluster has them."""

from datetime import UTC, datetime
from typing import Any, Final

from probelet.beside.guard.names import CONTEXT, OPT_IN

ENTRIES: Final = 110
"""Pods of a node, the kubelet's default limit; each has one probe in the NodePodProbe."""
PROBE: Final = {
    "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
CONTEXT_TEXT: Final = '[{"name":"app","livenessProbe":{"httpGet":{"path":"/healthz","port":8080}}}]'
OTHER_FIELDS: Final = 150
"""Fields that a pod's managers own: with them it is as large as a pod of a Deployment."""


def node(index: int) -> dict[str, Any]:
    """A node; its status says that it is ready."""
    ready = {"type": "Ready", "status": "True"}
    return {"metadata": {"name": node_name(index)}, "status": {"conditions": [ready]}}


def node_name(index: int) -> str:
    return f"node-{index:05}"


def pod(index: int, nodes: int) -> dict[str, Any]:
    """A pod that asks for enhanced liveness."""
    owned: dict[str, Any] = {"f:name": {}, "f:value": {}}
    fields = {f"f:field-{field}": owned for field in range(OTHER_FIELDS)}
    return {
        "metadata": {
            "name": f"web-{index:06}",
            "namespace": "default",
            "labels": {"app": "web"},
            "annotations": {OPT_IN: "true", CONTEXT: CONTEXT_TEXT},
            "managedFields": [
                {
                    "manager": "kubelet",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": fields,
                }
            ],
        },
        "spec": {
            "nodeName": node_name(index % nodes),
            "containers": [{"name": "app", "image": "shop", "ports": [{"containerPort": 8080}]}],
        },
    }


def pod_status(index: int, began: str) -> dict[str, Any]:
    """A running and ready pod."""
    address = f"10.{index // 65536 % 256}.{index // 256 % 256}.{index % 256}"
    container = {
        "name": "app",
        "image": "shop",
        "imageID": "shop",
        "containerID": f"containerd://{index:064}",
        "restartCount": 0,
        "ready": True,
        "started": True,
        "state": {"running": {"startedAt": began}},
    }
    conditions = [{"type": each, "status": "True"} for each in ("Ready", "ContainersReady", "Initialized")]
    return {"phase": "Running", "podIP": address, "conditions": conditions, "containerStatuses": [container]}


def foreign_entries(index: int, count: int) -> list[dict[str, Any]]:
    """Entries of pods that have no object here. Their names are a PodProbeMarker's, so that the mapping keeps them."""
    return [
        {
            "name": f"other-{index:05}-{number:03}",
            "namespace": "default",
            "uid": f"00000000-0000-0000-{index:04x}-{number:012x}",
            "IP": f"10.200.{number // 256}.{number % 256}",
            "probes": [{"name": "marker#app", "containerName": "app", "probe": PROBE}],
        }
        for number in range(count)
    ]


def statuses(entries: list[dict[str, Any]], state: str = "Succeeded") -> list[dict[str, Any]]:
    """The status that the node publishes for these entries."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        {
            **{key: entry[key] for key in ("name", "namespace", "uid")},
            "probeStates": [
                {
                    "name": probe["name"],
                    "state": state,
                    "lastProbeTime": now,
                    "lastTransitionTime": now,
                    "message": "HTTP probe failed with statuscode: 503" if state == "Failed" else "ok",
                }
                for probe in entry["probes"]
            ],
        }
        for entry in entries
    ]
