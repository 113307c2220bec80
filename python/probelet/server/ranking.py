"""Ranks the containers of a status document by trouble: the rows of ``probelet top``."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from probelet.server.document.top import Order, TopDocument, TopRow
from probelet.server.summary import seconds_between, succeeded

_KEYS: Final[dict[str, Callable[[TopRow], Any]]] = {
    "failing": lambda row: -row["failing"],
    "restarts": lambda row: -row["restart_count"],
    "backoff": lambda row: -row["backoff_seconds"],
    "lateness": lambda row: -row["lateness_ms"],
    "duration": lambda row: -row["duration_ms"],
    "name": lambda row: (row["namespace"], row["pod"], row["container"]),
}


def top_document(status: dict[str, Any], order: Order = "hurt") -> TopDocument:
    """The document ``probelet-top/1``: one row per container, the most troubled first.

    ``hurt`` compares failing probes, then restarts, back-off, lateness, and slow probes. Another ``order`` compares
    its own key first, then these.
    """
    as_of = datetime.fromisoformat(status["as_of"])
    rows = [_row(pod, container, as_of) for pod in status["pods"] for container in pod["containers"]]
    keys = list(_KEYS.values()) if order == "hurt" else [_KEYS[order], *_KEYS.values()]
    rows.sort(key=lambda row: [key(row) for key in keys])
    return {"schema": "probelet-top/1", "as_of": status["as_of"], "node": status["node"], "sort": order, "rows": rows}


def _row(pod: dict[str, Any], container: dict[str, Any], as_of: datetime) -> TopRow:
    runs = [probe["last"] for probe in container["probes"].values() if probe["last"] is not None]
    waits = container["backoff"] if container["state"] == "waiting" else None
    return {
        "namespace": pod["namespace"],
        "pod": pod["name"],
        "container": container["name"],
        "kind": container["kind"],
        "state": container["state"],
        "reason": container["reason"],
        "ready": container["ready"],
        "restart_count": container["restart_count"],
        "failing": round(max(map(_failing, container["probes"].values()), default=0.0), 3),
        "backoff_seconds": max(round(seconds_between(as_of, waits["due_at"]), 3), 0) if waits else 0,
        "lateness_ms": max((run["lateness_ms"] for run in runs), default=0),
        "duration_ms": max((run["duration_ms"] for run in runs), default=0),
        "probes": container["probes"],
    }


def _failing(probe: dict[str, Any]) -> float:
    """How near a probe is to acting: 0 if it passes, below 1 under its threshold, 1 at it, 2 during a kill.

    A kill (liveness, startup) ranks above a failed readiness probe, which only takes traffic away.
    """
    last, threshold = probe["last"], max(probe["failure_threshold"], 1)
    if probe["on_hold"] and probe["result"] == "Failure":
        return 2.0
    if last is None or succeeded(last):
        return 0.0
    if last["outcome"] == "error":
        # A prober error counts as no outcome, but it leaves the container's health unknown.
        return 1.0 if probe["result"] == "Failure" else 0.1
    return 1.0 if probe["result"] == "Failure" else min(probe["result_run"] / threshold, 1.0)
