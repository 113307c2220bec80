"""Short forms of the parts of pods. ANSWERS are rows such as ``200x4,500@2500`` (answers.go of the target)."""

from typing import Any

IMAGE = "docker.io/probelet/beside:1"
OTHER_IMAGE = "docker.io/probelet/beside:2"
TARGET = "/bin/beside-target"

Object = dict[str, Any]


def container(*arguments: str, name: str = "app", **fields: Any) -> Object:
    """A container that runs the target with these arguments."""
    return {"name": name, "image": IMAGE, "command": [TARGET, "serve"], "args": list(arguments), **fields}


def http_get(path: str, port: int | str = 8080, **fields: Any) -> Object:
    """A probe each second; ``get`` has more fields of its httpGet."""
    return {"httpGet": {"path": path, "port": port, **fields.pop("get", {})}, "periodSeconds": 1, **fields}


def answers(name: str, row: str, port: int | str = 8080, **fields: Any) -> Object:
    """A probe over HTTP that gets the answers of a row."""
    return http_get(f"/answer/{name}/{row}", port, **fields)


def command(name: str, row: str) -> Object:
    """An exec action, for probes and hooks."""
    return {"exec": {"command": [TARGET, "exec", name, row]}}


def pod(name: str, *containers: Object, init: list[Object] | None = None, uid: str = "", **spec: Any) -> Object:
    """A pod whose grace is 5 s unless ``spec`` says otherwise."""
    fields = {"terminationGracePeriodSeconds": 5, "containers": list(containers), **spec}
    if init:
        fields["initContainers"] = init
    metadata = {"name": name, "namespace": "default", "labels": {"app": name}}
    if uid:
        metadata["uid"] = uid
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": fields}
