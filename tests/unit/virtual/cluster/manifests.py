"""Manifests for the tests of a virtual cluster, as objects."""

from typing import Any

PROBE = {"httpGet": {"path": "/healthz", "port": 8080}, "timeoutSeconds": 1}


def workload(kind: str = "Deployment", name: str = "web", replicas: int = 3, **spec: Any) -> dict[str, Any]:
    """A workload; ``probes`` of its container ``app``, ``pod`` for the pod's spec, and the rest for its own."""
    probes = spec.pop("probes", {"readinessProbe": {**PROBE, "periodSeconds": 5}})
    pod = spec.pop("pod", {})
    container = {"name": "app", "image": "i", "ports": [{"containerPort": 8080}], **probes}
    labels = {"app": name}
    counted = {} if kind == "DaemonSet" else {"replicas": replicas}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **pod}}
    spec = {"selector": {"matchLabels": labels}, "template": template, **counted, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def service(name: str = "web") -> dict[str, Any]:
    """A Service for the pods of a workload of that name."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def budget(name: str = "web", **spec: Any) -> dict[str, Any]:
    """A PodDisruptionBudget for the pods of a workload of that name."""
    spec = {"selector": {"matchLabels": {"app": name}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}
