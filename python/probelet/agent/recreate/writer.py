"""Writes how far a request is into its status."""

from typing import Final

from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.recreate_request import read_request
from probelet.beside.guard.recreate.execution import Execution
from probelet.host.timers import Timers
from probelet.kube.connection import Connection
from probelet.kube.error import Conflict, NotFound
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS

CONFLICTS_MAX: Final = 5
"""How often a write is repeated at once with a newer version; the manager writes only a few times for a request."""


async def write(connection: Connection, timers: Timers, execution: Execution) -> None:
    """Writes ``execution.progress``. Raises KubeError.

    A request that is gone, or that the manager has completed meanwhile, is left as it is: its status no longer follows
    the executor.
    """
    for left in reversed(range(CONFLICTS_MAX)):
        wanted, request = execution.progress, execution.request
        own = {"uid": request.uid, "resourceVersion": request.version}
        try:
            written = await connection.patch(
                CONTAINER_RECREATE_REQUESTS,
                request.name,
                request.namespace,
                {"metadata": own, "status": execution.status(text(timers.wall_ns()))},
                type="merge",
                subresource="status",
            )
            execution.update(read_request(written), timers.now())
            execution.written = wanted
            return
        except NotFound:
            execution.written = wanted
            return
        except Conflict:
            if not left:
                raise
            if not await _read_again(connection, timers, execution):
                execution.written = wanted
                return


async def _read_again(connection: Connection, timers: Timers, execution: Execution) -> bool:
    """Takes the newest version of the request; False if the executor has nothing to write any more."""
    try:
        found = await connection.get(CONTAINER_RECREATE_REQUESTS, execution.request.name, execution.request.namespace)
    except NotFound:
        return False
    fresh = read_request(found)
    if fresh.uid != execution.request.uid:
        return False
    execution.update(fresh, timers.now())
    return not fresh.is_completed
