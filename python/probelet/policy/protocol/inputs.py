"""The inputs of a pod's machine."""

from typing import TypeAlias

import msgspec

from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.protocol.effects import Outcome
from probelet.spec.model.pod import Pod


class Observed(msgspec.Struct, frozen=True):
    """The runtime as it is now."""

    snapshot: Snapshot


class Performed(msgspec.Struct, frozen=True):
    """The effects of a ticket have ended; ``outcomes`` in their order, ``snapshot`` taken afterwards."""

    ticket: int
    outcomes: tuple[Outcome, ...]
    snapshot: Snapshot


class SyncRequested(msgspec.Struct, frozen=True):
    """A result or a status changed: sync the pod."""


class Due(msgspec.Struct, frozen=True):
    """The armed deadline has come."""


class Release(msgspec.Struct, frozen=True):
    """Start these containers now, if they wait for their turn to be restarted."""

    names: tuple[str, ...]


class Change(msgspec.Struct, frozen=True):
    """The pod's manifest has changed, and its UID and name have not: the next sync brings the pod to ``pod``."""

    pod: Pod
    live: bool = False
    """Whether probes that run take over those of ``pod``; a kubelet's go on as they are."""


class Terminate(msgspec.Struct, frozen=True):
    """The pod's manifest is gone: end it within its grace, or within ``grace_seconds``, or ``at_once``.

    ``at_once`` kills with no grace at all, below the kubelet's minimum: the operator asked twice.
    """

    grace_seconds: int | None = None
    at_once: bool = False


class Restart(msgspec.Struct, frozen=True):
    """Replace a healthy running container; ``message`` is its Killing event, without the suffix.

    Not a crash: it starts again at once, and its back-off stays as it was.
    """

    container_id: str
    message: str


Input: TypeAlias = Observed | Performed | SyncRequested | Due | Release | Restart | Change | Terminate
