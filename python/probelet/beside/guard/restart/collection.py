"""Which requests of ours go (R-13)."""

from collections.abc import Iterator
from typing import Final

from probelet.beside.guard.objects.recreate_request import RECREATING, RecreateRequest
from probelet.beside.guard.restart.state.cluster_state import ClusterState
from probelet.spec.text.duration import SECOND

EVERY_NS: Final = 60 * SECOND


def collectable(cluster: ClusterState, now: int) -> Iterator[tuple[RecreateRequest, str]]:
    """Requests to delete, with the reason. A request whose container is being stopped is never among them."""
    for request in list(cluster.requests.values()):
        if request.is_ours and request.phase != RECREATING:
            why = _why(cluster, request, now)
            if why:
                yield request, why


def _why(cluster: ClusterState, request: RecreateRequest, now: int) -> str:
    if request.completed_ns is not None and not request.is_live:
        ttl = cluster.config.ttl_seconds if request.ttl_seconds is None else request.ttl_seconds
        if cluster.wall(now) - request.completed_ns > ttl * SECOND:
            return f"it completed more than {ttl} s ago"
    if request.pod_uid not in cluster.pods:
        return "its pod is gone"
    if request.is_live and not _has_probe(cluster, request):
        return "its probe is gone"
    if request.is_live and not cluster.config.enabled:
        return "the configuration has enabled: false"
    return ""


def _has_probe(cluster: ClusterState, request: RecreateRequest) -> bool:
    entry = cluster.entries.get(request.pod_uid)
    return entry is not None and any(each.name == request.probe for each in entry[1].probes)
