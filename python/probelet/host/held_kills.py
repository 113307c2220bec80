"""Liveness kills that wait, as documents and as metrics."""

from collections.abc import Callable
from typing import get_args

from probelet.base.exposition.family import counter, gauge, page
from probelet.policy.incidents.hold import Held, HoldEnd
from probelet.policy.node.kill_gate import KillGate
from probelet.server.document.status import HeldDocument

ENDS: tuple[HoldEnd, ...] = get_args(HoldEnd)


def held_document(held: Held, wall: Callable[[int], str]) -> HeldDocument:
    """One kill; ``wall`` writes a time of the engine's clock."""
    return {
        "incident": held.incident,
        "what": held.what,
        "since": wall(held.since_ns),
        "until": wall(held.until_ns),
    }


def render_held(gate: KillGate) -> bytes:
    """The series of kills that wait on the page ``/metrics``."""
    return page(
        gauge("probelet_kills_held", "Liveness kills that wait for the end of an incident.", gate.count),
        counter(
            "probelet_kills_held_total",
            "Liveness kills that have waited, by how that ended: the container answered, was killed, or is gone.",
            ((end, gate.ended.get(end, 0)) for end in ENDS),
            "end",
        ),
    )
