"""What the control socket may have done. The HTTP port never sees any of this."""

from typing import Protocol

from probelet.errors import ProbeletError


class NoSuchPodError(ProbeletError):
    """A name that means no pod, several pods, or no container; the message is one line."""


class Commands(Protocol):
    """Every method is called on the event loop's thread and waits for nothing. ``pod`` is NAME or NAMESPACE/NAME."""

    def retry(self, pod: str, container: str | None) -> list[str]:
        """Start the waiting containers of a pod now, or one of them; returns the names of those that waited."""

    def reset(self, pod: str, container: str | None) -> list[str]:
        """Forget the restart delay of a pod's containers, or of one; returns the names of those that had one."""
