"""Objects that two handlers need, each in its own form."""

from collections.abc import Callable
from typing import Any

import msgspec

from probelet.beside.guard.objects.node_probes import NodeProbes, read_node_probes
from probelet.beside.guard.objects.probe_name import Naming
from probelet.beside.guard.objects.recreate_request import RecreateRequest, read_request_object, request_of
from probelet.beside.guard.objects.whole_request import WholeRequest, whole_request_of


class SeenProbes(msgspec.Struct, frozen=True):
    """A NodePodProbe: for the mapping whether its spec has changed, for the decision what its status says."""

    generation: int
    probes: NodeProbes


class SeenRequest(msgspec.Struct, frozen=True):
    """A request: for the decision what it needs of it, for the management all of it."""

    short: RecreateRequest
    whole: WholeRequest


def read_seen_request(obj: dict[str, Any]) -> SeenRequest:
    """Reads a ContainerRecreateRequest."""
    read = read_request_object(obj)
    return SeenRequest(request_of(read), whole_request_of(read))


def probes_reader(naming: Naming) -> Callable[[dict[str, Any]], SeenProbes]:
    """Reads NodePodProbes whose probes of ours are named so."""
    return lambda obj: SeenProbes(obj["metadata"].get("generation", 0), read_node_probes(obj, naming))
