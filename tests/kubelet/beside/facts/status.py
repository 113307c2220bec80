"""The rows of the status in their order, without the rows that only a lucky look sees."""

from typing import Any

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.pods.changes import REMOVED
from tests.kubelet.beside.seen.side import Side
from tests.kubelet.beside.seen.text import text

Row = dict[str, Any]
BRIEF, LOOPING = 1.2, 2
"""Seconds of a life that only a lucky look sees."""
WAITS = ("CrashLoopBackOff", "RunContainerError", "PostStartHookError")
"""Reasons of a container that the sync loop shows a while; when it shows them depends on its wakes."""


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    mine = side.statuses(pod, 0, side.end_of(pod))
    theirs = other.statuses(pod, 0, other.end_of(pod))
    most = max((_restarts(rows) for part in (mine, theirs) for name, rows in part.items() if name != "pod"), default=0)
    brief = {
        name
        for both in (side, other)
        for name, rows in both.of(pod).items()
        if any(0 < one.finished < one.started + BRIEF * both.pace for one in rows)
    }
    found = []
    for name, rows in sorted(mine.items()):
        if name == "pod":
            words = [word for word in _of_pod(pod, rows, most) if not (brief and word == "Running ready")]
            found.append(Fact("pod: status", words))
        else:
            common = min(_restarts(rows), _restarts(theirs.get(name, [])))
            found += _of_container(name, pod, [row for row in rows if row is not None], common, brief)
    return found


def _restarts(rows: list[Row | None]) -> int:
    return max((row["restarts"] for row in rows if row is not None), default=0)


def _of_pod(pod: str, rows: list[Row | None], most: int) -> list[str]:
    words = ["gone" if row is None else pod_words(row) for row in rows]
    if most > 2:
        # The pod's turns are those of a container in a loop.
        words = sorted(set(words))
    elif pod in REMOVED or pod.startswith(("change-", "killed", "file-broken")):
        words = sorted({*words} - {"Pending", "gone", "Succeeded", "Failed"})
    words = _squeezed(words)
    if "Running ready" in words and words[0] == "Running":
        # The containers say how long it ran before it was ready.
        words = words[1:]
    return words


def _of_container(name: str, pod: str, rows: list[Row], common: int, brief: set[str]) -> list[Fact]:
    waits, steps = [], []
    ready_sometime = {row["restarts"] for row in rows if row["ready"]}
    ready_before: set[int] = set()
    last = common if common < LOOPING else common - 1
    for row in rows:
        if row["state"] == "running" and name in brief:
            continue
        if row["state"] == "waiting" and row["reason"] in WAITS:
            if row["restarts"] < common:
                in_back_off = row["reason"] == "CrashLoopBackOff"
                waits.append(
                    container_words({**row, "restarts": row["restarts"] if in_back_off else "N", "last": None})
                )
            continue
        first = row["state"] in ("none", "waiting") and row["restarts"] == 0
        if first or row["restarts"] > last or (common > 0 and row["state"] == "terminated"):
            continue
        if row["ready"]:
            ready_before.add(row["restarts"])
        elif row["restarts"] in ready_sometime - ready_before and row["state"] == "running":
            continue
        steps.append(container_words(row))
    if pod.startswith(("change-", "file-broken")):
        # The end of one pod and the start of the next overlap by chance.
        steps = sorted({step for step in steps if " ready" in step})
    return [Fact(f"{name}: status", _squeezed(steps)), Fact(f"{name}: waiting", sorted(set(waits)))]


def pod_words(row: Row) -> str:
    reason, ready = f"/{row['reason']}" if row["reason"] else "", " ready" if row["ready"] else ""
    return f"{row['phase']}{reason}{ready}{_quoted(row['message'])}"


def container_words(row: Row) -> str:
    reason = f"/{row['reason']}" if row["reason"] else ""
    code = "" if row["exit_code"] is None else f"({row['exit_code']})"
    flags = "".join(f" {flag}" for flag in ("ready", "started") if row[flag])
    last = row["last"]
    before = f" last={last[0]}({last[1]}){_quoted(last[2])}" if last else ""
    return f"{row['state']}{reason}{code}{flags} restarts={row['restarts']}{_quoted(row['message'])}{before}"


def _quoted(message: str) -> str:
    return f" “{text(message)}”" if message else ""


def _squeezed(steps: list[str]) -> list[str]:
    found: list[str] = []
    for step in steps:
        if not step.startswith(("none", "Pending")) and (not found or found[-1] != step):
            found.append(step)
    return found
