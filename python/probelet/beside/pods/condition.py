"""The condition of the readiness gate ``probelet.dev/ready``."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from probelet.beside.pods.instances import NO_INSTANCES, Instances
from probelet.policy.glue.status_layer import status_rows
from probelet.policy.rules.kind import containers
from probelet.policy.status.ready_condition import CONTAINERS_NOT_READY
from probelet.spec.model.pod import Pod


class Readiness(msgspec.Struct, frozen=True):
    """Whether the gate is open; ``reason`` and ``message`` are empty while it is. ``instances``: the containers behind
    the verdict that have passed probes."""

    ready: bool
    reason: str = ""
    message: str = ""
    instances: Instances = NO_INSTANCES

    @property
    def condition_message(self) -> str:
        """The message of the condition. It names the instances, because the API server is the memory of an agent whose
        journal is lost."""
        return "; ".join(part for part in (self.message, self.instances.text) if part)


def readiness(pod: Pod, status: Mapping[str, Any], unprobed: Collection[str] = ()) -> Readiness:
    """The condition of a pod with only the probes that were taken over, by the engine's status of it.

    The gate is open if every container whose readiness or startup probe was taken over runs and is ready, and
    ``unprobed`` is empty: containers of which nobody knows whether they are ready. Reason and message are those of
    ContainersReady (kubelet status/generate.go:GenerateContainersReadyCondition, 1.36); the readiness of other
    containers is the kubelet's to say.
    """
    return readiness_of(pod, status_rows(status), unprobed)


def readiness_of(pod: Pod, rows: Mapping[str, Mapping[str, Any]], unprobed: Collection[str] = ()) -> Readiness:
    """``readiness`` by the rows of the containers: ``state`` and ``ready`` of each."""
    waited_for = {*gated(pod), *unprobed}
    names = [container.name for _, container in containers(pod) if container.name in waited_for]
    ready = {name: rows[name]["id"] for name in names if name not in unprobed and _is_ready(rows.get(name, {}))}
    unready = [name for name in names if name not in ready]
    if not unready:
        return Readiness(True, instances=Instances(ready, {}))
    instances = Instances(ready, dict(_started(pod, unready, rows)))
    message = f"containers with unready status: [{' '.join(unready)}]"
    return Readiness(False, CONTAINERS_NOT_READY, message, instances)


def gated(pod: Pod) -> list[str]:
    """The containers that the gate waits for, sidecars first."""
    return [
        container.name
        for kind, container in containers(pod)
        if kind != "init" and (container.readiness_probe is not None or container.startup_probe is not None)
    ]


def _is_ready(row: Mapping[str, Any]) -> bool:
    return row.get("state") == "running" and row.get("ready") is True


def _started(pod: Pod, names: Collection[str], rows: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The instances whose startup probe has passed, of these containers."""
    for _, container in containers(pod):
        row = rows.get(container.name, {})
        has_started = row.get("state") == "running" and row.get("started") is True
        if has_started and container.name in names and container.startup_probe is not None:
            yield container.name, row["id"]
