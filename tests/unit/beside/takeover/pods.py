"""Pods as an API server sends them to a webhook, and what becomes of them."""

import copy
from typing import Any

import msgspec
from probelet.beside.takeover import (
    CONDITION,
    MADE_ANNOTATION,
    MANAGED_LABEL,
    NOT_TAKEN_OVER_ANNOTATION,
    PROBES_ANNOTATION,
    Patch,
    patch,
)
from probelet.beside.takeover.patch import Operation

Json = dict[str, Any]

LIVENESS: Json = {
    "httpGet": {"path": "/live", "port": 8080, "scheme": "HTTP"},
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
READINESS: Json = {**LIVENESS, "httpGet": {"path": "/ready", "port": "http", "scheme": "HTTP"}, "successThreshold": 2}
STARTUP: Json = {**LIVENESS, "exec": {"command": ["cat", "/tmp/up"]}, "failureThreshold": 30}
del STARTUP["httpGet"]


def container(name: str = "app", **fields: Any) -> Json:
    return {"name": name, "image": "registry.local/app:1", **fields}


def pod(*containers: Json, init: tuple[Json, ...] = (), annotations: Json | None = None, **spec: Any) -> Json:
    """A pod that asks for the takeover."""
    metadata: Json = {"name": "web", "labels": {MANAGED_LABEL: "true"}}
    if annotations is not None:
        metadata["annotations"] = annotations
    given: Json = {"restartPolicy": "Always", "containers": list(containers), **spec}
    if init:
        given["initContainers"] = list(init)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": given}


def called(value: Json, namespace: str = "default", fallback_ns: int = 0) -> tuple[Json, Patch]:
    """The pod after one call of the webhook, and the call's answer. A second call must change nothing."""
    options: Any = {"namespace": namespace, "own_namespace": "probelet-system", "fallback_ns": fallback_ns}
    answer = patch(copy.deepcopy(value), **options)
    after = patched(value, answer.operations)
    again = patch(copy.deepcopy(after), **options)
    assert again.operations == ()
    assert again.result == answer.result
    return after, answer


def patched(value: Json, operations: tuple[Operation, ...]) -> Json:
    """The pod after a JSON patch, as strict as the API server: a path must be there, a member to remove too."""
    result = copy.deepcopy(value)
    for operation in operations:
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        parent: Any = result
        for part in way:
            parent = parent[int(part)] if isinstance(parent, list) else parent[part]
        match operation["op"], parent:
            case "add", list():
                parent.insert(len(parent) if last == "-" else int(last), operation["value"])
            case "add", dict():
                parent[last] = operation["value"]
            case "remove", list():
                del parent[int(last)]
            case "remove", dict():
                del parent[last]
            case other:
                raise AssertionError(other)
    return result


def moved(value: Json) -> Json:
    """The annotation with the probes as JSON; empty if there is none."""
    return dict(msgspec.json.decode((value["metadata"].get("annotations") or {}).get(PROBES_ANNOTATION, "{}")))


def made(value: Json) -> Json:
    """The annotation with the probes that the webhook made for the kubelet, as JSON; empty if there is none."""
    return dict(msgspec.json.decode((value["metadata"].get("annotations") or {}).get(MADE_ANNOTATION, "{}")))


def reason(value: Json) -> str | None:
    """Why probes stay native, if the pod says so."""
    return (value["metadata"].get("annotations") or {}).get(NOT_TAKEN_OVER_ANNOTATION)


def has_gate(value: Json) -> bool:
    return {"conditionType": CONDITION} in (value["spec"].get("readinessGates") or [])


def native(value: Json) -> list[str]:
    """The probes in the spec that the webhook did not make, each as ``container/type``."""
    spec, ours = value["spec"], made(value)
    return [
        f"{one['name']}/{kind}"
        for one in (*spec.get("initContainers", ()), *spec["containers"])
        for kind in ("liveness", "readiness", "startup")
        if f"{kind}Probe" in one and f"{kind}Probe" not in ours.get(one["name"], ())
    ]
