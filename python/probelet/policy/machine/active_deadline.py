"""``activeDeadlineSeconds``: how long a pod may be active (kubelet pkg/kubelet/active_deadline.go, 1.36)."""

from typing import Final

from probelet.spec.model.pod import Pod

REASON: Final = "DeadlineExceeded"
MESSAGE: Final = "Pod was active on the node longer than the specified deadline"

_SECOND: Final = 1_000_000_000


class ActiveDeadline:
    """Runs from the first sync on, when the kubelet sets the pod's startTime. Once exceeded, it stays exceeded."""

    def __init__(self, pod: Pod) -> None:
        self.exceeded = False
        """Whether a sync has run after the deadline: the pod has failed, whatever its containers do."""
        self._seconds = pod.spec.active_deadline_seconds
        self._due_ns: int | None = None

    @property
    def due_ns(self) -> int | None:
        """When the next sync has to run; None without a deadline, before the first sync and once exceeded."""
        return None if self.exceeded else self._due_ns

    def look(self, now: int) -> bool:
        """Called when a sync begins; True for the sync that first finds the deadline over."""
        if self._seconds is None or self.exceeded:
            return False
        if self._due_ns is None:
            self._due_ns = now + self._seconds * _SECOND
        self.exceeded = now >= self._due_ns
        return self.exceeded
