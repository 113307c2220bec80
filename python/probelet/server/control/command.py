"""The commands of the control socket. The HTTP port has none."""

from typing import Any, Protocol

from probelet.errors import ProbeletError


class NoSuchPodError(ProbeletError):
    """The name matches no pod, several pods, or no container; the message is one line."""


class Commands(Protocol):
    """The event loop's thread calls every method, and none may block. ``pod`` is NAME or NAMESPACE/NAME."""

    def retry(self, pod: str, container: str | None) -> list[str]:
        """Starts the waiting containers of ``pod``, or only ``container``, now; returns the names it started."""

    def logs(self, pod: str) -> dict[str, Any]:
        """Where the logs of ``pod`` are, and the state of its containers: ``probelet-logs/1``."""

    def reset(self, pod: str, container: str | None) -> list[str]:
        """Clears the restart delay of ``pod``'s containers, or only of ``container``; returns the cleared names."""
