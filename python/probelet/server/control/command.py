"""The commands of the control socket. The HTTP port has none."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from probelet.errors import ProbeletError

if TYPE_CHECKING:
    # The client imports this module, and does without spec.
    from probelet.server.document.event import PausedProbe
    from probelet.spec.model.probe import ProbeType


class NoSuchPodError(ProbeletError):
    """The name matches no pod, several pods, or no container; the message is one line."""


class RefusedError(ProbeletError):
    """This service does not do what the command asks for; the message is one line that says who does."""


PAUSE_SECONDS_MAX: Final = 24 * 60 * 60
"""The longest pause: a forgotten one ends by the next day."""


class Named(Protocol):
    """A pod that a command can name."""

    full_name: str


P = TypeVar("P", bound=Named)


def pod_named(pods: Iterable[P], name: str) -> P:
    """The pod with the name NAMESPACE/NAME, or NAME if only one has it. Raises NoSuchPodError."""
    found = [pod for pod in pods if name in (pod.full_name, pod.full_name.partition("/")[2])]
    if not found:
        raise NoSuchPodError(f'there is no pod "{name}"')
    if len(found) > 1:
        raise NoSuchPodError(f'pod "{name}" is in several namespaces: {", ".join(pod.full_name for pod in found)}')
    return found[0]


class Commands(Protocol):
    """The event loop's thread calls every method, and none may block. ``pod`` is NAME or NAMESPACE/NAME.

    A method raises RefusedError if this service does not do what it asks for.
    """

    def retry(self, pod: str, container: str | None) -> list[str]:
        """Starts the waiting containers of ``pod``, or only ``container``, now; returns the names it started."""

    def logs(self, pod: str) -> dict[str, Any]:
        """Where the logs of ``pod`` are, and the state of its containers: ``probelet-logs/1``."""

    async def pause(
        self, pod: str, container: str | None, probe_type: "ProbeType | None", seconds: int
    ) -> "list[PausedProbe]":
        """Lets the probes of ``pod``, or only of ``container`` or ``probe_type``, make no attempt for ``seconds``.

        With 0 it ends their pauses. Returns these probes.
        """

    def reset(self, pod: str, container: str | None) -> list[str]:
        """Clears the restart delay of ``pod``'s containers, or only of ``container``; returns the cleared names."""
