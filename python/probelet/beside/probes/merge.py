"""Merges states into the status of a NodePodProbe as it was just read.

Law: only probes of the spec have a state; a state that this node does not report stays as it is, and the order stays.
The result depends on the object and on the reports alone, so after a conflict the caller reads and merges again.
"""

from collections.abc import Mapping
from typing import Any

from probelet.beside.probes.report import Report
from probelet.beside.probes.tolerant import fields, items, text
from probelet.beside.probes.wanted import Key


def merged_status(obj: Mapping[str, Any], reports: Mapping[Key, Report]) -> list[dict[str, Any]]:
    """``status.podProbeStatuses`` of ``obj`` with these reports in it."""
    wanted = _wanted(obj)
    merged: list[dict[str, Any]] = []
    seen: set[str] = set()
    for entry in items(_statuses(obj)):
        uid = text(entry.get("uid"))
        if uid in wanted and uid not in seen:
            seen.add(uid)
            states = _states(uid, items(entry.get("probeStates")), wanted[uid]["names"], reports)
            if states:
                merged.append({**entry, "probeStates": states})
    for uid, pod in wanted.items():
        states = [] if uid in seen else _states(uid, [], pod["names"], reports)
        if states:
            merged.append({"name": pod["name"], "namespace": pod["namespace"], "uid": uid, "probeStates": states})
    return merged


def with_status(obj: dict[str, Any], reports: Mapping[Key, Report]) -> dict[str, Any] | None:
    """The whole object with its new status; None if it is as it should be."""
    merged = merged_status(obj, reports)
    if merged == _statuses(obj):
        return None
    return {**obj, "status": {**fields(obj.get("status")), "podProbeStatuses": merged}}


def _states(
    uid: str, before: list[dict[str, Any]], names: list[str], reports: Mapping[Key, Report]
) -> list[dict[str, Any]]:
    """The states of a pod: the old ones in their order, then new ones in the order of the spec."""
    states: dict[str, dict[str, Any]] = {}
    for found in before:
        if (name := text(found.get("name"))) in names:
            states[name] = found
    for name in names:
        if (report := reports.get((uid, name))) is not None:
            states[name] = report.encode(name)
    return list(states.values())


def _wanted(obj: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The pods of the spec by UID, each with the names of its probes."""
    pods: dict[str, dict[str, Any]] = {}
    for entry in items(fields(obj.get("spec")).get("podProbes")):
        place = {"name": text(entry.get("name")), "namespace": text(entry.get("namespace")), "names": []}
        names = pods.setdefault(text(entry.get("uid")), place)["names"]
        names += [text(probe.get("name")) for probe in items(entry.get("probes"))]
    return pods


def _statuses(obj: Mapping[str, Any]) -> list[Any]:
    found = fields(obj.get("status")).get("podProbeStatuses")
    return found if isinstance(found, list) else []
