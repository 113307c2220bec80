"""A request that this node's executor knows, with what it has done about it."""

from dataclasses import dataclass, field

from probelet.beside.guard.objects.whole_request import WholeRequest
from probelet.beside.guard.recreate.progress import Progress


@dataclass(slots=True, eq=False)
class Order:
    """``request``: its newest version. ``progress``: how far it is; ``written``: what the API server has of that.
    ``seen_ns``: since when the executor knows it, ``drained_ns``: since when it knows that the pod is out of service.
    ``killed``: as in ``RequestNote``; ``failures``: the errors of kills that failed, by container."""

    request: WholeRequest
    seen_ns: int
    killed: dict[str, str]
    progress: Progress
    written: Progress
    drained_ns: int | None = None
    failures: dict[str, str] = field(default_factory=dict)

    def take(self, request: WholeRequest, now: int) -> None:
        """A newer version of the request."""
        self.request = request
        if request.unready_acquired and self.drained_ns is None:
            self.drained_ns = now
