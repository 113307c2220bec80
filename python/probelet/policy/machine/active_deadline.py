"""``activeDeadlineSeconds``: how long a pod may be active (kubelet pkg/kubelet/active_deadline.go, 1.36)."""

from typing import Final

from probelet.policy.strands.context import PodContext

REASON: Final = "DeadlineExceeded"
MESSAGE: Final = "Pod was active on the node longer than the specified deadline"

_SECOND: Final = 1_000_000_000


class ActiveDeadline:
    """Runs from the first sync on, when the kubelet sets the pod's startTime. Once exceeded, it stays exceeded."""

    def __init__(self, context: PodContext) -> None:
        self.exceeded = False
        """Whether a sync has run after the deadline: the pod has failed, whatever its containers do."""
        self._context = context
        self._began_ns: int | None = None

    @property
    def due_ns(self) -> int | None:
        """When the next sync has to run; None without a deadline, before the first sync and once exceeded."""
        seconds = self._context.pod.spec.active_deadline_seconds
        if self.exceeded or seconds is None or self._began_ns is None:
            return None
        return self._began_ns + seconds * _SECOND

    def check(self) -> bool:
        """Called when a sync begins; True for the sync that first finds the deadline over."""
        now = self._context.now
        if self._began_ns is None:
            self._began_ns = now
        due = self.due_ns
        if due is not None:
            self.exceeded = now >= due
        return due is not None and self.exceeded
