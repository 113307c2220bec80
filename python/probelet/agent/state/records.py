"""The content of the files in the state directory, one type for each of its folders."""

from typing import Final, Literal

import msgspec

from probelet.policy.rules.grace import GraceSource, KillReason
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType

PODS: Final = "pods"
"""The folder of ``FirstSeen``; a file is named after the pod's UID."""
INTENTS: Final = "intents"
"""The folder of ``Intent``; a file is named after the container's ID in the runtime."""
PAUSES: Final = "pauses"
"""The folder of ``PausedPod``; a file is named after the pod's UID."""
REQUESTS: Final = "requests"
"""The folder of ``RequestNote``; a file is named after the request's UID."""

_MS_PER_SECOND: Final = 1000


class FirstSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A pod of this node as first seen, ``probelet-pod/1``: the annotation and the definition that count for a UID,
    whatever is written later.

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
    """One kill of one container instance, ``probelet-intent/1``; on disk from before its first step until the container
    has ended."""

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
    """Whether the preStop hook has begun. It is set before the hook begins, so one that is not idempotent runs at most
    once."""
    hook_ended: bool = False
    """Whether the kill has gone on after the hook: it ended, or its time was over."""

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
    """The pauses of one pod, ``probelet-pauses/1``, kept across restarts of the agent."""

    schema: Literal["probelet-pauses/1"] = "probelet-pauses/1"
    uid: str
    pauses: list[Pause]


class RequestNote(msgspec.Struct, frozen=True, kw_only=True):
    """The kills for one ContainerRecreateRequest, ``probelet-request/1``; on disk from before its first kill until the
    request is over."""

    schema: Literal["probelet-request/1"] = "probelet-request/1"
    uid: str
    killed: dict[str, str]
    """The instance that was killed of each container, ``type://id``: another one is never killed for this request."""
