"""What this version does not do yet is refused by name, so that no manifest is half obeyed.

One table; a row goes when its feature comes. What can be ignored without harm is in ``ignored``.
"""

from collections.abc import Callable, Iterator

from probelet.spec.pod import Pod
from probelet.spec.problem import FieldError

DETAIL = "not available in this version of probelet"


def _ephemeral_containers(pod: Pod) -> Iterator[str]:
    if pod.spec.ephemeral_containers:
        yield "spec.ephemeralContainers"


def _host_network(pod: Pod) -> Iterator[str]:
    if pod.spec.host_network:
        yield "spec.hostNetwork"


def _active_deadline(pod: Pod) -> Iterator[str]:
    if pod.spec.active_deadline_seconds is not None:
        yield "spec.activeDeadlineSeconds"


def _stop_signal(pod: Pod) -> Iterator[str]:
    for path, container in pod.spec.each_container():
        if container.lifecycle is not None and container.lifecycle.stop_signal is not None:
            yield f"{path}.lifecycle.stopSignal"


# Each row finds the paths of one feature.
UNSUPPORTED: tuple[Callable[[Pod], Iterator[str]], ...] = (
    _ephemeral_containers,
    _host_network,
    _active_deadline,
    _stop_signal,
)


def unsupported_fields(pod: Pod) -> list[FieldError]:
    """One error for each use of a feature that does not exist yet."""
    return [FieldError(path, "Forbidden", detail=DETAIL) for row in UNSUPPORTED for path in row(pod)]
