"""A pod as a row of the page: the words and beats that it shows, and how bad it is."""

from datetime import datetime
from typing import Any, Final, Literal, TypeAlias, TypedDict
from urllib.parse import urlencode

from probelet.server.limit import HISTORY_MAX
from probelet.server.summary import (
    PROBE_TYPES,
    Sign,
    foreign,
    outdated,
    pod_trouble,
    probe_mark,
    restarts,
    state,
    trouble,
)

Look: TypeAlias = Literal["good", "warn", "bad", ""]
Rank: TypeAlias = Literal[0, 1, 2, 3, 4]
"""How bad a pod is, the worst first. 0: a verdict is in force, or a container crashed. 1: a probe fails, or the pod is
not ready. 2: an attempt failed lately, or a container starts. 3: well. 4: the pod has done its work."""


class ProbeRow(TypedDict):
    """A probe."""

    type: str
    look: Look
    says: str
    """``passes``, or ``fails 2/3``."""
    beats: str
    """The last attempts, as in the status document."""


class ContainerRow(TypedDict):
    """A container."""

    name: str
    kind: str
    """Empty for a regular container."""
    look: Look
    says: str
    restarts: str
    """Empty for a container without restarts."""
    probes: list[ProbeRow]


class Row(TypedDict):
    """A pod, or a node of a cluster."""

    uid: str
    namespace: str
    name: str
    ip: str
    rank: Rank
    look: Look
    says: str
    notes: list[str]
    """The troubles, one sentence each."""
    detail: str
    """The parameters of ``statusz`` with which there is more about it."""
    containers: list[ContainerRow]


_LOOK: Final[dict[Sign, Look]] = {
    "good": "good",
    "failing": "warn",
    "bad": "bad",
    "recovering": "warn",
    "error": "warn",
    "pending": "",
}
_SAYS: Final[dict[Sign, str]] = {
    "good": "passes",
    "failing": "fails",
    "bad": "failed",
    "recovering": "recovers",
    "error": "has a prober error",
    "pending": "not run yet",
}
_NOT_READY: Final[dict[str, tuple[Look, str]]] = {"Running": ("warn", "not ready"), "Failed": ("bad", "Failed")}


def pod_row(pod: dict[str, Any], as_of: datetime) -> Row:
    """The row of a pod of the status document."""
    look, says = ("good", "ready") if pod["ready"] else _NOT_READY.get(pod["phase"], ("", pod["phase"]))
    notes = [*foreign(pod), *pod_trouble(pod)]
    if (note := outdated(pod)) is not None:
        notes.append(note)
    containers = [_container(container, as_of) for container in pod["containers"]]
    for container in pod["containers"]:
        of = f"{container['name']}: " if len(containers) > 1 else ""
        notes += [of + sentence for sentence in trouble(container, as_of)]
    return {
        "uid": pod["uid"],
        "namespace": pod["namespace"],
        "name": pod["name"],
        "ip": pod["ip"],
        "rank": _rank(pod, containers),
        "look": look,
        "says": says,
        "notes": notes,
        "detail": urlencode({"history": HISTORY_MAX, "pod": f"{pod['namespace']}/{pod['name']}"}),
        "containers": containers,
    }


def _container(container: dict[str, Any], as_of: datetime) -> ContainerRow:
    probes: list[ProbeRow] = []
    for name in PROBE_TYPES:
        if (probe := container["probes"].get(name)) is not None:
            mark = probe_mark(probe)
            says = f"{_SAYS[mark.sign]} {mark.count}".rstrip()
            probes.append({"type": name, "look": _LOOK[mark.sign], "says": says, "beats": probe["beats"]})
    return {
        "name": container["name"],
        "kind": "" if container["kind"] == "regular" else container["kind"],
        "look": _look_of(container),
        "says": state(container, as_of),
        "restarts": restarts(container, as_of) if container["restart_count"] or container["backoff"] else "",
        "probes": probes,
    }


def _look_of(container: dict[str, Any]) -> Look:
    match container["state"]:
        case "running":
            return "good" if container["ready"] else ""
        case "waiting":
            return "warn"
        case _:
            return "bad" if container["exit_code"] else ""


def _rank(pod: dict[str, Any], rows: list[ContainerRow]) -> Rank:
    if pod["phase"] == "Succeeded":
        return 4
    probes = [probe for row in rows for probe in row["probes"]]
    crashed = any(row["look"] == "bad" for row in rows) or any(found["backoff"] for found in pod["containers"])
    if pod["phase"] == "Failed" or crashed or any(probe["look"] == "bad" for probe in probes):
        return 0
    starts = any(found["state"] == "running" and found["started"] is False for found in pod["containers"])
    if any(probe["look"] == "warn" for probe in probes) or not (pod["ready"] or starts):
        return 1
    return 2 if starts or any(beat in probe["beats"] for probe in probes for beat in "!?") else 3
