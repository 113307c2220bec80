"""The objects in the state directory, each kind in a folder of its own."""

from typing import Final, Literal

import msgspec

from probelet.policy.rules.grace import GraceSource, KillReason
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType

PODS_FOLDER: Final = "pods"
PAUSES_FOLDER: Final = "pauses"
"""The folders whose files are named after the UID of a pod."""
INTENTS_FOLDER: Final = "intents"
"""The folder whose files are named after the ID of a container in the runtime."""
REQUESTS_FOLDER: Final = "requests"
"""The folder whose files are named after the UID of a request."""

_MS_PER_SECOND: Final = 1000


class FirstSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A pod of this node as first seen, ``probelet-pod/1``: what counts for a UID, whatever is written later.

    ``annotation`` is None for a pod that had none: one that is added later does not count. ``pod`` has the fields that
    the agent reads (``definition``), and none for such a pod.
    """

    schema: Literal["probelet-pod/1"] = "probelet-pod/1"
    uid: str
    namespace: str
    name: str
    annotation: str | None
    pod: Pod | None


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One kill of one container instance, ``probelet-intent/1``: on disk from before its first step until its end."""

    schema: Literal["probelet-intent/1"] = "probelet-intent/1"
    pod_uid: str
    namespace: str
    name: str
    container: str
    container_id: str
    """``type://id``."""
    reason: KillReason
    """Liveness or startup."""
    grace_seconds: int
    """The whole grace, from the probe or the pod."""
    grace_source: GraceSource
    deadline_ms: int
    """The end of the grace, in Unix milliseconds."""
    hook_begun: bool = False
    """Whether the preStop hook has begun. It is set before the hook begins, so the hook runs at most once."""

    def seconds_left(self, wall_ms: int) -> int:
        """Returns the rest of the grace in whole seconds rounded up, from 0 to the whole grace: a wall clock that was
        set back gives no container more."""
        left = -((wall_ms - self.deadline_ms) // _MS_PER_SECOND)
        return max(0, min(left, self.grace_seconds))


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """One probe that makes no attempt for a while."""

    container: str
    probe_type: ProbeType
    until_ms: int
    """The end, in Unix milliseconds."""
    length_ms: int
    """The whole length: a wall clock that is set back makes no pause longer."""

    def left_ms(self, wall_ms: int) -> int:
        """Returns the rest of the pause, from 0 to the whole length."""
        return max(0, min(self.until_ms - wall_ms, self.length_ms))


class PausedPod(msgspec.Struct, frozen=True, kw_only=True):
    """The pauses of one pod, ``probelet-pauses/1``."""

    schema: Literal["probelet-pauses/1"] = "probelet-pauses/1"
    uid: str
    pauses: list[Pause]


class RequestNote(msgspec.Struct, frozen=True, kw_only=True):
    """The kills for one ContainerRecreateRequest, ``probelet-request/1``: on disk from before the first one until the
    request is over."""

    schema: Literal["probelet-request/1"] = "probelet-request/1"
    uid: str
    killed: dict[str, str]
    """The instance that was killed of each container, ``type://id``: another one is never killed for this request."""
