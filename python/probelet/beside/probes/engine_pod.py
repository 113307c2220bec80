"""The engine's input for one probe: a pod with one container, and the status of that container.

The engine keys results by container ID, and two probes of one container have two results. So each probe has a number of
its own, and the engine sees the ID with that number behind it; ``runtime_id`` takes it off again before a command runs.
"""

from typing import Any

import msgspec

from probelet.beside.probes.wanted import Wanted
from probelet.policy.facts.snapshot import ContainerRecord, State
from probelet.spec.model.container import Container
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.read.json import encode_pod
from probelet.spec.rules.defaults import set_defaults
from probelet.spec.text.container_id import bare_id

_MARK = "#"
"""No runtime has it in an ID (the CRI's IDs are hexadecimal or UUIDs)."""


def engine_uid(uid: str, number: int) -> str:
    """The UID in the engine of the probe number ``number``. A probe that changes gets another number, so that an
    attempt in flight cannot count for its successor."""
    return f"{uid}{_MARK}{number}"


def engine_id(container_id: str, number: int) -> str:
    """The container's ID in the engine."""
    return f"{container_id}{_MARK}{number}"


def runtime_id(container_id: str) -> str:
    """The ID that the runtime itself uses, of a container's ID in the engine."""
    return bare_id(container_id).rpartition(_MARK)[0]


def engine_pod(wanted: Wanted, number: int) -> bytes:
    """The definition for ``Engine.add_pod``. The container is always restarted, so its worker outlives its exits."""
    return encode_pod(
        set_defaults(
            Pod(
                metadata=ObjectMeta(name=wanted.pod, namespace=wanted.namespace, uid=engine_uid(wanted.uid, number)),
                spec=PodSpec(
                    containers=[Container(name=wanted.container, liveness_probe=wanted.probe)],
                    restart_policy="Always",
                ),
            )
        )
    )


def engine_status(record: ContainerRecord, number: int, *, address: str, started: bool) -> bytes:
    """The status for ``Engine.set_pod_status``. ``started``: nothing of the container's start is left to wait for."""
    row: dict[str, Any] = {"name": record.name, "id": engine_id(record.id, number), "started": started}
    if record.state is State.RUNNING:
        row |= {"state": "running"} | ({"started_at_ms": record.started_at_ms} if record.started_at_ms else {})
    else:
        # Whether it exited or is gone makes no difference: it does not run, and its worker waits for the next one.
        row |= {"state": "waiting"}
    return msgspec.json.encode({"phase": "Running", "pod_ip": address, "containers": [row]})
