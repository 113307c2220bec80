"""The pods that the engine of a measurement probes: one container each, with one probe or two alike."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from probelet._rust import Engine
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import action, uid

COMMAND = ["true"]
TIMEOUT_SECONDS = 5
"""Above what a containerd that stalls takes for most commands: a timeout would hide its cost."""


@dataclass(frozen=True)
class Probed:
    """A container and its probes. ``target`` is the place that probes over a socket connect to."""

    container_id: str
    handler: str
    period: int
    probes: int = 1
    target: Place | None = None


def exec_load(ids: list[str], rate: float) -> list[Probed]:
    """Containers whose exec probes together run ``rate`` times a second, as near as whole seconds and one or two probes
    for each container allow."""
    probes = 2 if rate > len(ids) else 1
    period = max(1, round(len(ids) * probes / rate))
    return [Probed(container_id, "exec", period, probes) for container_id in ids]


def rate_of(load: list[Probed]) -> float:
    """Probes a second."""
    return sum(probed.probes / probed.period for probed in load)


def add(engine: Engine, load: list[Probed]) -> None:
    """Gives an engine these pods, as a node does."""
    for name, pod, facts in _node(load):
        engine.define_pod(pod)
        engine.sync_pod(name, facts)


def _node(load: list[Probed]) -> Iterator[tuple[str, bytes, bytes]]:
    for number, probed in enumerate(load):
        name = uid(number)
        container: dict[str, Any] = {"name": "app"}
        for kind in ("readinessProbe", "livenessProbe")[: probed.probes]:
            container[kind] = _action(probed) | {
                "initialDelaySeconds": 0,
                "timeoutSeconds": TIMEOUT_SECONDS,
                "periodSeconds": probed.period,
                "successThreshold": 1,
                "failureThreshold": 3,
            }
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"bench-{number}", "namespace": "default", "uid": name},
            "spec": {"restartPolicy": "Always", "containers": [container]},
        }
        address = "127.0.0.1" if probed.target is None else probed.target.address(number)
        status = {"name": "app", "id": probed.container_id, "state": "running", "started_at_ms": 1}
        facts = {"phase": "Running", "pod_ip": address, "containers": [status], "init_containers": []}
        yield name, json.dumps(pod).encode(), json.dumps(facts).encode()


def _action(probed: Probed) -> dict[str, Any]:
    if probed.handler == "exec":
        return {"exec": {"command": COMMAND}}
    assert probed.target is not None
    match probed.handler:
        case "http" | "tcp" | "grpc" as handler:
            return action(handler, probed.target.port)
    raise ValueError(probed.handler)
