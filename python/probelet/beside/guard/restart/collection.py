"""Which requests of ours go (R-13)."""

from collections.abc import Iterator
from typing import Final

from probelet.beside.guard.objects.recreate_request import RECREATING, RecreateRequest
from probelet.beside.guard.restart.settings.config import SECOND
from probelet.beside.guard.restart.state.world import World

EVERY_NS: Final = 60 * SECOND


def collectable(world: World, now: int) -> Iterator[tuple[RecreateRequest, str]]:
    """Requests to delete, with the reason. A request whose container is being stopped is never among them."""
    for request in list(world.requests.values()):
        if request.is_ours and request.phase != RECREATING:
            why = _why(world, request, now)
            if why:
                yield request, why


def _why(world: World, request: RecreateRequest, now: int) -> str:
    if request.completed_ns is not None and not request.is_live:
        ttl = world.config.ttl_seconds if request.ttl_seconds is None else request.ttl_seconds
        if world.wall(now) - request.completed_ns > ttl * SECOND:
            return f"it completed more than {ttl} s ago"
    if request.pod_uid not in world.pods:
        return "its pod is gone"
    if request.is_live and not _has_probe(world, request):
        return "its probe is gone"
    if request.is_live and not world.config.enabled:
        return "the configuration has enabled: false"
    return ""


def _has_probe(world: World, request: RecreateRequest) -> bool:
    entry = world.entries.get(request.pod_uid)
    return entry is not None and any(each.name == request.probe for each in entry[1].probes)
