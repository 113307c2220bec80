"""The verdict of a simulation: when unready, when killed, how many requests lost, and whether it recovers."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from probelet.lab.picture.document import RequestsRow, VerdictRow
from probelet.lab.simulate.playing import Played
from probelet.virtual.cluster import PodRecord, ServiceRecord

WHOLE_SHARE: Final = 0.001
"""A Service that loses a smaller share of its requests is whole: the tail of a distribution is no outage."""


def verdict(played: Played) -> VerdictRow:
    """The verdict from the beginning of the traffic on."""
    history, began = played.history, played.began
    unready = sorted(at for pod in history.pods for at in left(pod) if at >= began)
    kills = [kill.at for kill in history.kills if kill.at >= began]
    whole = _whole_since(played)
    outage = [end - start for service in history.services for start, end in outages(service, began)]
    return VerdictRow(
        recovered=whole is not None,
        recovers_after_seconds=None if whole is None else rounded(max(whole - reference(played), 0.0)),
        first_unready_seconds=rounded(unready[0]) if unready else None,
        unready_pods_max=unready_most(played),
        first_kill_seconds=rounded(kills[0]) if kills else None,
        kills=len(kills),
        restarts=sum(pod.restarts for pod in history.pods),
        requests=requests(history.services),
        longest_outage_seconds=rounded(max(outage, default=0.0)),
    )


def reference(played: Played) -> float:
    """From when recovery counts: the end of the last fault, or the beginning of one that does not end."""
    ends = [fault.start if fault.end is None else fault.end for fault in played.history.faults]
    return max(ends, default=played.began)


def rounded(seconds: float) -> float:
    """Seconds as the document has them."""
    return round(seconds, 3)


def requests(services: list[ServiceRecord]) -> RequestsRow:
    """The requests of some Services; what is offered is served or lost to the last one."""
    offered = round(sum(service.totals.offered for service in services))
    lost = min(round(sum(service.totals.lost for service in services)), offered)
    late = min(round(sum(service.totals.late for service in services)), offered - lost)
    return RequestsRow(offered=offered, served=offered - lost, late=late, lost=lost)


def left(pod: PodRecord) -> Iterator[float]:
    """When a pod that was ready left its Services, but for its own end."""
    for before, after in pairwise(pod.spans):
        if before.state == "ready" and after.state not in ("terminating", "gone"):
            yield after.start


def unready_most(played: Played) -> int:
    """The most ready replicas that were missing at one moment, of all workloads together."""
    changes: list[tuple[float, int]] = []
    for service in played.history.services:
        missing = 0
        for at, now in missing_steps(service):
            changes.append((max(at, played.began), now - missing))
            missing = now
    found = total = 0
    moments = sorted(changes)
    for index, (at, change) in enumerate(moments):
        total += change
        if index + 1 == len(moments) or moments[index + 1][0] > at:
            found = max(found, total)
    return found


def missing_steps(service: ServiceRecord) -> Iterator[tuple[float, int]]:
    """From each time on, how many endpoints are missing."""
    endpoints, wanted = dict(service.endpoints), dict(service.wanted)
    have = want = 0
    for at in sorted(endpoints | wanted):
        have, want = endpoints.get(at, have), wanted.get(at, want)
        yield at, max(want - have, 0)


def outages(service: ServiceRecord, began: float) -> list[tuple[float, float]]:
    """The times in which a Service that got requests served none: from, to."""
    end = service.load[-1].end if service.load else began
    steps = [*service.endpoints, (end, 1)]
    without = [(max(at, began), until) for (at, count), (until, _) in pairwise(steps) if not count and until > began]
    dark = [(step.start, step.end) for step in service.load if 0 <= step.served <= step.offered * WHOLE_SHARE > 0]
    found: list[tuple[float, float]] = []
    for start, until in sorted([*without, *dark]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], until))
        else:
            found.append((start, until))
    return found


def _whole_since(played: Played) -> float | None:
    """Since when every Service has all endpoints and loses nothing; None if that is not so at the end."""
    whole = played.began
    for service in played.history.services:
        steps = list(missing_steps(service))
        missing = [index for index, (_, count) in enumerate(steps) if count]
        if missing:
            if missing[-1] + 1 == len(steps):
                return None
            whole = max(whole, steps[missing[-1] + 1][0])
        lossy = [step for step in service.load if step.lost > step.offered * WHOLE_SHARE]
        if lossy:
            last = lossy[-1]
            if last.end >= played.history.now:
                return None
            # The load is known by steps. The last endpoint that came within the last lossy one ended the loss.
            came = [at for at, count in steps if not count and last.start < at <= last.end]
            whole = max(whole, came[-1] if came else last.end)
    return whole
