"""A scenario's pods as the v1.Pod objects that the prober got."""

from typing import Any

import msgspec

from probelet_conformance.recording import Recording, ScenarioPod

PROBE_FIELDS = {"liveness": "livenessProbe", "readiness": "readinessProbe", "startup": "startupProbe"}


def pod_object(recording: Recording, pod: ScenarioPod, *, deleting: bool = False) -> bytes:
    """The pod as JSON, with its probes as the API server defaulted them."""
    spec: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(pod.spec))
    containers = [*spec.get("containers", []), *spec.get("initContainers", [])]
    for line in recording.trace["effective_probes"]:
        if line["pod"] == pod.name:
            container = next(each for each in containers if each["name"] == line["container"])
            container[PROBE_FIELDS[line["type"]]] = line["probe"]
    metadata: dict[str, Any] = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    if deleting or pod.deletion_timestamp_ms is not None:
        metadata["deletionTimestamp"] = "1970-01-01T00:00:00Z"
    ready = "True" if pod.api_condition_ready else "False"
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status})
