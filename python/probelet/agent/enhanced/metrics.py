"""The series of enhanced liveness on a node, as Prometheus text. No pod, container or message is a label."""

from collections.abc import Mapping
from typing import Final

import msgspec

from probelet.base.exposition.family import counter, gauge, page

WRITES: Final = ("conflict", "error", "ok", "unchanged")


class EnhancedNumbers(msgspec.Struct, frozen=True):
    """``writes``: of the status, by how they ended."""

    probes: int
    refused: int
    writes: Mapping[str, int]


def render(numbers: EnhancedNumbers) -> bytes:
    """The part of the page that the engine of enhanced liveness does not write."""
    return page(
        gauge("probelet_elp_probes", "Probes of the node's NodePodProbe.", numbers.probes),
        counter(
            "probelet_elp_probes_refused_total",
            "Probes that do not run, because of what the object says of them.",
            numbers.refused,
        ),
        counter(
            "probelet_elp_status_updates_total",
            "Writes of the NodePodProbe's status, by how they ended.",
            ((end, numbers.writes.get(end, 0)) for end in WRITES),
            "result",
        ),
    )
