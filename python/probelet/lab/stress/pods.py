"""The pods of a scene."""

from typing import Any

import msgspec

from probelet.lab.stress.scene import Scene
from probelet.spec.model.pod import Pod
from probelet.spec.rules.defaults import set_defaults
from probelet.spec.text.duration import SECOND

STAY = ["sleep", "100000"]
STAYING = "stay"
"""The name of a container that never ends by itself."""


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
    metadata = {"name": pod_name(number), "namespace": "default", "uid": f"stress-uid-{number}"}
    body = {"metadata": metadata, "spec": {**spec, "terminationGracePeriodSeconds": 1}}
    return set_defaults(msgspec.convert(body, Pod))


def probe_delay_seconds(scene: Scene) -> int:
    """How long after a start the liveness probe fails; a probe counts in whole seconds."""
    return max(1, scene.kill_ns // SECOND)


def pod_name(number: int) -> str:
    """The name of a pod of the scene."""
    return f"stress-{number}"


def pod_number(uid: str) -> int:
    """The number of the pod with this UID."""
    return int(uid.rpartition("-")[2])


def _container(place: int, program: list[str], scene: Scene) -> dict[str, Any]:
    made: dict[str, Any] = {"name": f"crash-{place}", "image": "i", "command": program}
    if scene.kill_ns:
        # The first run after the delay fails; a worker looks at the delay once a period.
        probe = {"exec": {"command": ["false"]}, "failureThreshold": 1, "periodSeconds": 1}
        made["livenessProbe"] = {**probe, "initialDelaySeconds": probe_delay_seconds(scene)}
    return made


def status_key(phase: str, pod_ip: str, containers: Any) -> tuple[object, ...]:
    """The part of a published status whose change the API server would see."""
    return (phase, pod_ip, tuple(sorted(containers.items())))
