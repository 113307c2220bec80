"""A NodePodProbe as both machines need it."""

from collections.abc import Callable
from typing import Any

import msgspec

from probelet.guard.objects.node_probes import NodeProbes, read_node_probes
from probelet.guard.objects.probe_name import Naming


class SeenProbes(msgspec.Struct, frozen=True):
    """A NodePodProbe: for the mapping whether its spec has changed, for the decision what its status says."""

    generation: int
    probes: NodeProbes


def probes_reader(naming: Naming) -> Callable[[dict[str, Any]], SeenProbes]:
    """Reads NodePodProbes whose probes of ours are named so."""
    return lambda obj: SeenProbes(obj["metadata"].get("generation", 0), read_node_probes(obj, naming))
