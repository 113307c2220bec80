"""What happens to pods that change nothing by themselves while containerd, then the agent, restarts."""

from itertools import groupby

from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.facts.status import Row
from tests.kubelet.beside.seen.side import Side

STEADY_SECONDS = 45.0
LOOPING = 2
"""A pod is steady if no container ran more often and its status did not change for so long before containerd stops."""
AWAY = "waiting/ImageInspectError"
"""What a sync finds while containerd is away; whether a sync falls into these seconds is chance."""
PARTS = (("containerd restarts", "containerd_stops", "agent_stops"), ("agent restarts", "agent_stops", "remove_all"))


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    if not (_is_steady(side, pod) and _is_steady(other, pod)):
        return []
    found = []
    for what, begin_mark, end_mark in PARTS:
        begin, end = side.mark(begin_mark), side.mark(end_mark)
        before, after = side.statuses(pod, 0, begin), side.statuses(pod, begin, end)
        for name in sorted(before):
            turns = [_words(row) for row in [before[name][-1], *after.get(name, [])] if row is not None]
            shown = [turn for turn in turns if not turn.startswith(AWAY)]
            found.append(Fact(f"{what}: {name}: status", [turn for turn, _ in groupby(shown)]))
        started = (one for one in side.instances.values() if one.pod == pod and begin <= one.started < end)
        found.append(Fact(f"{what}: containers started", sorted(f"{one.container} {one.attempt}" for one in started)))
    return found


def _is_steady(side: Side, pod: str) -> bool:
    stop = side.mark("containerd_stops")
    recent = side.statuses(pod, stop - STEADY_SECONDS, stop)
    last = [rows[-1] for rows in side.statuses(pod, 0, stop).values()]
    loops = any(len(rows) > LOOPING for rows in side.of(pod).values())
    return not recent and not loops and any(row is not None for row in last)


def _words(row: Row) -> str:
    if "phase" in row:
        return f"{row['phase']}{' ready' if row['ready'] else ''}"
    reason = f"/{row['reason']}" if row["reason"] else ""
    flags = "".join(f" {flag}" for flag in ("ready", "started") if row[flag])
    return f"{row['state']}{reason}{flags} restarts={row['restarts']}"
