"""What is refused by name.

That is what this version does not do yet, so that no manifest is half obeyed, and what no pod may begin with.

One table; a row goes when its feature comes. What can be ignored without harm is in ``ignored``.
"""

from collections.abc import Callable, Iterator

from probelet.spec.model.pod import Pod
from probelet.spec.text.problem import FieldError

DETAIL = "not available in this version of probelet"
NOT_ON_CREATE = "cannot be set on create"
"""Of a static pod a kubelet says the same (core ``ValidatePodCreate``, 1.36)."""


def _ephemeral_containers(pod: Pod) -> Iterator[FieldError]:
    if pod.spec.ephemeral_containers:
        yield FieldError("spec.ephemeralContainers", "Forbidden", detail=NOT_ON_CREATE)


def _host_network(pod: Pod) -> Iterator[FieldError]:
    if pod.spec.host_network:
        yield FieldError("spec.hostNetwork", "Forbidden", detail=DETAIL)


# Each row finds the uses of one feature.
UNSUPPORTED: tuple[Callable[[Pod], Iterator[FieldError]], ...] = (
    _ephemeral_containers,
    _host_network,
)


def unsupported_fields(pod: Pod) -> list[FieldError]:
    """One error for each use of what is refused."""
    return [error for row in UNSUPPORTED for error in row(pod)]
