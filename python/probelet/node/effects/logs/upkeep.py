"""Which upkeep of the containers' logs is the service's."""

from dataclasses import dataclass

from probelet.base.logs.kept import KeptLogs
from probelet.base.logs.rotation import LogLimits
from probelet.spec.text.duration import SECOND


@dataclass(frozen=True, slots=True)
class LogUpkeep:
    """The defaults: the runtime rotates the logs, and the logs of a pod go with the pod."""

    limits: LogLimits | None = None
    """The service rotates logs by these limits; None if the runtime rotates them."""
    period_ns: int = 10 * SECOND
    """How often the service looks at their sizes (``containerLogMonitorInterval``)."""
    kept: KeptLogs | None = None
    """Keeps the logs of pods that are gone; None to remove them as a kubelet does."""
