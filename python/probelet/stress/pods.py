"""The pods of a scene."""

from typing import Any

import msgspec

from probelet.spec.model.pod import Pod
from probelet.spec.rules.defaults import set_defaults
from probelet.stress.scene import Scene

STAY = ["sleep", "100000"]
STAYING = "stay"
"""The name of a container that runs on."""


def make_pod(scene: Scene, number: int, program: list[str]) -> Pod:
    """A defaulted pod whose crashing containers run ``program``."""
    spec: dict[str, Any] = {"restartPolicy": "OnFailure" if scene.policy == "OnFailure" else "Always"}
    sidecar = {"name": STAYING, "image": "i", "command": STAY, "restartPolicy": "Always"}
    if scene.policy == "Sidecar":
        spec["initContainers"] = [{**_container(0, program, scene), "restartPolicy": "Always"}]
        spec["containers"] = [{"name": STAYING, "image": "i", "command": STAY}]
    else:
        spec["initContainers"] = [sidecar] if scene.containers > 1 else []
        spec["containers"] = [_container(place, program, scene) for place in range(max(1, scene.containers - 1))]
    metadata = {"name": f"stress-{number}", "namespace": "default", "uid": f"stress-uid-{number}"}
    body = {"metadata": metadata, "spec": {**spec, "terminationGracePeriodSeconds": 1}}
    return set_defaults(msgspec.convert(body, Pod))


def _container(place: int, program: list[str], scene: Scene) -> dict[str, Any]:
    made: dict[str, Any] = {"name": f"crash-{place}", "image": "i", "command": program}
    if scene.kill_ns:
        # The first run after the delay fails; a worker looks at the delay once a period.
        probe = {"exec": {"command": ["false"]}, "failureThreshold": 1, "periodSeconds": 1}
        made["livenessProbe"] = {**probe, "initialDelaySeconds": max(1, scene.kill_ns // 1_000_000_000)}
    return made


def status_key(phase: str, pod_ip: str, containers: Any) -> tuple[object, ...]:
    """What of a published status the API server would see change."""
    return (phase, pod_ip, tuple(sorted(containers.items())))
