"""``probelet-top/1``."""

from typing import Literal, TypeAlias, TypedDict

from probelet.server.document.status import ProbeDocument

Order: TypeAlias = Literal["hurt", "failing", "restarts", "backoff", "lateness", "duration", "name"]


class TopRow(TypedDict):
    """One container."""

    namespace: str
    """The namespace of the pod."""
    pod: str
    """The name of the pod."""
    container: str
    """The name of the container."""
    kind: str
    """``regular``, ``init`` or ``sidecar``."""
    state: str
    """``waiting``, ``running`` or ``terminated``."""
    reason: str
    """The reason of the state in the API's words."""
    ready: bool
    """True if the container is ready."""
    restart_count: int
    """How often the container was restarted."""
    failing: float
    """How near its worst probe is to a verdict: 0 if all pass, below 1 under failureThreshold, 1 at it, 2 in a kill."""
    backoff_seconds: float
    """How long the container still waits for its start; 0 if it does not wait."""
    lateness_ms: float
    """The greatest lateness among the last runs of its probes."""
    duration_ms: float
    """The greatest duration among the last runs of its probes."""
    probes: dict[str, ProbeDocument]
    """The same as in ``probelet-status/1``."""


class TopDocument(TypedDict):
    """The containers of a status, the most troubled first."""

    schema: Literal["probelet-top/1"]
    as_of: str
    """The moment of the status."""
    node: str
    """The name of the node."""
    sort: Order
    """The order of the rows (``--sort``)."""
    rows: list[TopRow]
    """One for each container."""
