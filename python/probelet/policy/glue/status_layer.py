"""Passes statuses from a pod's machine to the prober's status layer, and results back."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from msgspec.structs import asdict

from probelet.policy.facts.probe_state import KILLING_TYPES, ProbeState, ResultName
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.protocol.actions import Publish
from probelet.policy.rules.kind import has_sidecar
from probelet.policy.status.container_status import ContainerStatus
from probelet.policy.status.ready_condition import ReadyCondition, ready_condition
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType


class StatusLayer(Protocol):
    """The part of the prober that the policy's results come from, live or simulated."""

    def result(self, probe: ProbeType, container_id: str, /) -> ResultName | None: ...
    def status(self, uid: str, /) -> bytes | None: ...


def read_probe_state(prober: StatusLayer, pod: Pod, snapshot: Snapshot) -> ProbeState:
    """Returns the prober's published results for the running containers of ``snapshot``.

    Only a sidecar's start has consequences for the policy, so the status is decoded for a pod with a sidecar only.
    """
    results = {
        (probe_type, record.id): result
        for record in snapshot.running()
        for probe_type in KILLING_TYPES
        if (result := prober.result(probe_type, record.id)) is not None
    }
    return ProbeState(results, _started(prober, pod.metadata.uid) if has_sidecar(pod) else frozenset())


def status_of(prober: StatusLayer, uid: str) -> dict[str, Any]:
    """The status of a pod as the prober last set it; empty for a pod without one."""
    status = prober.status(uid)
    return {} if status is None else msgspec.json.decode(status)


def ready_of(prober: StatusLayer, pod: Pod) -> ReadyCondition:
    """The condition Ready of a pod, with its readiness gates, as the prober last set its status."""
    return ready_condition(pod, status_of(prober, pod.metadata.uid))


def status_rows(status: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The containers and init containers of a pod's status, by name."""
    return {row["name"]: row for row in (*status.get("containers", ()), *status.get("init_containers", ()))}


class Begun(msgspec.Struct, frozen=True):
    """Whether a container has started, and is ready."""

    started: bool
    ready: bool


def encode_facts(publish: Publish, begun: Mapping[str, Begun] | None = None) -> bytes:
    """The facts of ``sync_pod``; with ``begun``, by container, the status of ``begin_pod``."""
    rows: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for status in publish.containers.values():
        of_results = {} if begun is None else asdict(begun[status.name])
        rows[status.kind == "regular"].append(_fact(status) | of_results)
    return msgspec.json.encode(
        {"phase": publish.phase, "pod_ip": publish.pod_ip, "containers": rows[True], "init_containers": rows[False]}
    )


def _started(prober: StatusLayer, uid: str) -> frozenset[str]:
    return frozenset(name for name, row in status_rows(status_of(prober, uid)).items() if row.get("started"))


def _fact(status: ContainerStatus) -> dict[str, Any]:
    fact: dict[str, Any] = {"name": status.name, "id": status.container_id, "state": status.state}
    if status.state == "running" and status.started_at_ms:
        fact["started_at_ms"] = status.started_at_ms
    if status.exit_code is not None:
        fact["exit_code"] = status.exit_code
    return fact
