"""Observations in a ``probelet-status/1`` document: ``probelet status -o json``, or the page ``/statusz``."""

from collections.abc import Iterator
from typing import Any

from probelet.lint.observed.container import ObservedContainer, ObservedProbe
from probelet.spec.model.probe import PROBE_TYPES, ProbeType


def observed_by_probelet(document: dict[str, Any]) -> Iterator[ObservedContainer]:
    """The containers. Raises LookupError or TypeError for a document of another form."""
    for pod in document["pods"]:
        for container in pod["containers"]:
            probes: dict[ProbeType, ObservedProbe] = {
                probe_type: _probe(container["probes"][probe_type])
                for probe_type in PROBE_TYPES
                if probe_type in container["probes"]
            }
            yield ObservedContainer(
                namespace=pod["namespace"],
                pod=pod["name"],
                name=container["name"],
                probes=probes,
                restarts=container["restart_count"],
                is_waiting=container["backoff"] is not None,
            )


def _probe(row: dict[str, Any]) -> ObservedProbe:
    last = row["last"]
    return ObservedProbe(
        runs=row["runs"],
        failures=row["failures"],
        errors=row["errors"],
        result=row["result"] or "",
        starved=int(last is not None and last["cause"] == "starved"),
        cause="" if last is None or last["outcome"] != "failure" else last["cause"],
        slow=None if last is None else last["duration_ms"] / 1000,
        attempts=0 if last is None else 1,
        lateness=None if last is None else last["lateness_ms"] / 1000,
    )
