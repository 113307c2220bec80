"""Writes how far a request is into its status."""

from collections.abc import Mapping
from typing import Any, Final

from probelet.agent.recreate.order import Order
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.whole_request import WholeRequest, read_whole_request
from probelet.beside.guard.recreate.progress import Progress, listed
from probelet.host.timers import Timers
from probelet.kube.connection import Connection
from probelet.kube.error import Conflict, NotFound
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS

CONFLICTS_MAX: Final = 5
"""How often a write is repeated at once with a newer version; the manager writes only a few times for a request."""


async def write(connection: Connection, timers: Timers, order: Order) -> None:
    """Writes ``order.progress``. Raises KubeError.

    A request that is gone, or that the manager has completed meanwhile, is left as it is: its status no longer follows
    the executor.
    """
    for left in reversed(range(CONFLICTS_MAX)):
        wanted = order.progress
        try:
            written = await connection.patch(
                CONTAINER_RECREATE_REQUESTS,
                order.request.name,
                order.request.namespace,
                _body(order.request, wanted, text(timers.wall_ns())),
                type="merge",
                subresource="status",
            )
            order.take(read_whole_request(written), timers.now())
            order.written = wanted
            return
        except NotFound:
            order.written = wanted
            return
        except Conflict:
            if not left:
                raise
            if not await _read_again(connection, timers, order):
                order.written = wanted
                return


async def _read_again(connection: Connection, timers: Timers, order: Order) -> bool:
    """Takes the newest version of the request; False if the executor has nothing to write any more."""
    try:
        found = await connection.get(CONTAINER_RECREATE_REQUESTS, order.request.name, order.request.namespace)
    except NotFound:
        return False
    fresh = read_whole_request(found)
    if fresh.uid != order.request.uid:
        return False
    order.take(fresh, timers.now())
    return not fresh.is_completed


def _body(request: WholeRequest, progress: Progress, now: str) -> Mapping[str, Any]:
    status: dict[str, Any] = {"phase": progress.phase}
    if progress.states:
        status["containerRecreateStates"] = listed(progress.states)
    if progress.is_completed:
        status |= {"completionTime": now, "message": progress.message}
    return {"metadata": {"uid": request.uid, "resourceVersion": request.version}, "status": status}
