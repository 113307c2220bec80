"""The parts of the agent that the probes of a node use."""

from collections.abc import Callable, Collection

import msgspec

from probelet._rust import Engine
from probelet.beside.pods.api_pod import ApiPod
from probelet.kube.connection import Connection
from probelet.runtime.host import RuntimeHost


class EnhancedDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """``host`` is the agent's. ``make_engine`` makes an engine with ``semantics="enhanced"`` for the first probe.

    ``api_pod`` returns the API server's version of a pod of this node, by UID, namespace and name. ``has_started`` says
    whether the startup probe that the agent itself runs for a container, by pod, container and ID, has passed; True if
    there is none. ``made_startups`` returns the containers of a pod whose native startup probe the webhook made, which
    holds up no probe here. ``is_taken_over`` says whether a pod's probes were taken over, so that its part of the cache
    stays. ``on_served`` is called when the API server begins to serve NodePodProbes. ``is_asked_only``: a probe runs
    only if the annotation of its pod asks for it; OpenKruise's PodProbeMarkers have none.
    """

    host: RuntimeHost
    connection: Connection
    make_engine: Callable[[], Engine]
    api_pod: Callable[[str, str, str], ApiPod | None]
    has_started: Callable[[str, str, str], bool]
    made_startups: Callable[[str], Collection[str]]
    is_taken_over: Callable[[str], bool]
    on_served: Callable[[], None] = lambda: None
    is_asked_only: bool = True
