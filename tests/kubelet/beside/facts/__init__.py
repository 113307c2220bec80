"""What the comparison compares: facts of one pod, by section. Both sides have the same facts if they do the same."""

from collections.abc import Callable

from tests.kubelet.beside.facts import events, instances, left, metrics, probes, removal, restarts, runtime, status
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.side import Side

SECTIONS: dict[str, Callable[[Side, Side, str], list[Fact]]] = {
    "containers": instances.facts,
    "probes": probes.facts,
    "status": status.facts,
    "events": events.facts,
    "runtime": runtime.facts,
    "restarts": restarts.facts,
    "removal": removal.facts,
    "metrics": metrics.facts,
    "left": left.facts,
}
"""Facts of a pod on one side; the other side says how far both can be compared."""


def of_node(side: Side) -> list[Fact]:
    """Facts that belong to no pod."""
    medians = [*removal.medians(side), *probes.medians(side)]
    return [*metrics.of_page(side), *left.of_agent(side), *medians]
