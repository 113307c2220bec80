"""The rows of a status document that a node's own pods and the agent's have in common: a container, and a probe."""

from typing import Any, TypeAlias

from probelet.base.exposition.timestamp import rfc3339
from probelet.policy.status.container_status import ContainerStatus, LastExit
from probelet.server.document.status import BackoffDocument, ContainerDocument, LastExitDocument, ProbeDocument
from probelet.server.worker import WorkerState, probe_document
from probelet.spec.model.probe import Probe

Workers: TypeAlias = dict[tuple[str, str], WorkerState]
"""The workers of a pod by container and probe type."""


def container_row(
    status: ContainerStatus,
    known: dict[str, Any],
    backoff: BackoffDocument | None,
    probes: dict[str, ProbeDocument],
) -> ContainerDocument:
    """A container; ``known`` is its row of the engine's status, empty before the first one."""
    return {
        "name": status.name,
        "kind": status.kind,
        "container_id": status.container_id,
        "state": status.state,
        "reason": status.reason,
        "message": status.message,
        "exit_code": status.exit_code,
        "restart_count": status.restart_count,
        "ready": known.get("ready", False),
        "started": bool(known.get("started")),
        "last_exit": _last_exit(status.last_exit),
        "backoff": backoff,
        "probes": probes,
    }


def _last_exit(last: LastExit | None) -> LastExitDocument | None:
    if last is None:
        return None
    at = rfc3339(last.at_ms) if last.at_ms else None
    return {"at": at, "exit_code": last.exit_code, "reason": last.reason, "message": last.message}


def probe_row(probe: Probe, worker: WorkerState | None) -> ProbeDocument:
    """A probe with its worker. It has no worker before the container's first start and after its end."""
    if worker is None:
        return {
            "handler": probe.handler,
            "result": None,
            "result_run": 0,
            "failure_threshold": max(probe.failure_threshold, probe.initialization_failure_threshold),
            "success_threshold": probe.success_threshold,
            "on_hold": False,
            "runs": 0,
            "failures": 0,
            "errors": 0,
            "next_at": None,
            "last": None,
            "beats": "",
        }
    return probe_document(worker)
