"""Pods as an API server has them: raw JSON, with the probes in the annotation."""

import json
from typing import Any, Final

from probelet.agent.state.records import FirstSeen
from probelet.beside.pods.api_pod import ApiPod, api_pod
from probelet.beside.pods.definition import definition, probed
from probelet.beside.takeover.names import CONDITION, PROBES_ANNOTATION
from probelet.beside.takeover.reading import read
from probelet.spec.model.pod import Pod
from probelet.spec.read.json import decode_pod

NODE: Final = "worker-1"
NAMESPACE: Final = "probelet-system"

EXEC: Final[dict[str, Any]] = {"exec": {"command": ["probe"]}, "periodSeconds": 1, "failureThreshold": 1}
"""A probe whose answers a test scripts; the first failure counts."""

Probes = dict[str, dict[str, Any]]


def made_pod(
    probes: Probes | None = None,
    *,
    name: str = "web",
    uid: str = "",
    annotation: str | None = None,
    containers: list[dict[str, Any]] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A pod bound to ``NODE``; ``probes`` are its annotation, or else ``annotation`` is, written as it is."""
    text = json.dumps(probes) if probes is not None else annotation
    written = {} if text is None else {PROBES_ANNOTATION: text}
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid or f"uid-{name}",
            "annotations": written | (annotations or {}),
        },
        "spec": {
            "nodeName": NODE,
            "containers": containers or [{"name": "app", "image": "i"}],
            "readinessGates": [{"conditionType": CONDITION}],
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            **spec,
        },
        "status": {"phase": "Pending"},
    }


def first_seen(raw: dict[str, Any]) -> FirstSeen:
    """The pod as an agent that sees it for the first time keeps it."""
    meta = raw["metadata"]
    annotation = meta["annotations"].get(PROBES_ANNOTATION)
    kept = None if annotation is None else definition(decode_pod(json.dumps(raw).encode()), annotation)
    return FirstSeen(uid=meta["uid"], namespace="default", name=meta["name"], annotation=annotation, pod=kept)


def probed_pod(raw: dict[str, Any]) -> Pod:
    """The definition with only the probes that were taken over, as the engine gets it."""
    first = first_seen(raw)
    assert first.annotation is not None
    assert first.pod is not None
    return probed(first.pod, read(first.annotation, first.pod, own_namespace=NAMESPACE))


def seen_by_api(raw: dict[str, Any]) -> ApiPod:
    """What the agent reads of one version of a pod."""
    found = api_pod(raw, NODE)
    assert found is not None
    return found
