"""Histories made by hand: what a judge of simulations sees, without a simulation."""

from collections.abc import Sequence

from probelet.lab.simulate.playing import Played
from probelet.virtual.cluster import FaultSpan, History, Kill, LoadStep, PodRecord, Requests, ServiceRecord, Span

END = 600.0
BEGAN = 20.0


def service(
    endpoints: list[tuple[float, int]],
    lost: Sequence[tuple[float, float]] = (),
    wanted: int = 3,
) -> ServiceRecord:
    """A Service that is offered 100 requests a second from ``BEGAN`` on; in the spans ``lost`` it loses all of them."""
    load = []
    for start in range(int(BEGAN), int(END)):
        gone = any(begin <= start < end for begin, end in lost)
        load.append(LoadStep(float(start), start + 1.0, 100.0, 0.0 if gone else 100.0, 0.0, 100.0 if gone else 0.0))
    offered = sum(step.offered for step in load)
    gone_total = sum(step.lost for step in load)
    totals = Requests(offered, offered - gone_total, 0.0, gone_total)
    return ServiceRecord("web", "web", 5.0, 1.0, totals, load, endpoints, [(0.0, wanted)])


def pod(name: str, *spans: tuple[str, float], kills: Sequence[Kill] = (), end: float = END) -> PodRecord:
    """A pod whose states begin at the times given."""
    ends = [start for _, start in spans[1:]] + [end]
    found = [Span(state, start, until) for (state, start), until in zip(spans, ends, strict=True)]  # type: ignore[arg-type]
    return PodRecord(name, "web", "node-0", 1, found, len(kills), list(kills), [], [])


def played(
    services: list[ServiceRecord],
    pods: Sequence[PodRecord] = (),
    faults: Sequence[tuple[float, float | None]] = (),
) -> Played:
    """A simulation with these Services, pods and faults."""
    found = sorted((kill for each in pods for kill in each.kills), key=lambda kill: kill.at)
    spans = [FaultSpan("exit", "web", "web exits", start, end) for start, end in faults]
    history = History(1, END, list(pods), services, [], 0, spans, found, [])
    return Played(history, BEGAN, END, {}, [], [], {}, False, {}, 0.0)
