"""Reads the engine for a pod's machine: probe results, and which containers have started."""

from typing import Any

import msgspec

from probelet._rust import Engine
from probelet.policy.facts.probe_state import KILLING_TYPES, ProbeState
from probelet.policy.kind import has_sidecar
from probelet.policy.snapshot import Snapshot
from probelet.spec.model.pod import Pod


def read_probe_state(engine: Engine, pod: Pod, snapshot: Snapshot) -> ProbeState:
    """What the engine has published about the running containers of ``snapshot``.

    Only a sidecar's start has consequences for the policy, so the status is decoded for a pod with a sidecar only.
    """
    results = {
        (probe_type, record.id): result
        for record in snapshot.running()
        for probe_type in KILLING_TYPES
        if (result := engine.result(probe_type, record.id)) is not None
    }
    return ProbeState(results, _started(engine, pod.metadata.uid) if has_sidecar(pod) else frozenset())


def _started(engine: Engine, uid: str) -> frozenset[str]:
    status = status_of(engine, uid)
    rows = (*status.get("containers", ()), *status.get("init_containers", ()))
    return frozenset(row["name"] for row in rows if row.get("started"))


def status_of(engine: Engine, uid: str) -> dict[str, Any]:
    """The status of a pod as the engine has it; empty for one without."""
    status = engine.status(uid)
    return {} if status is None else msgspec.json.decode(status)
