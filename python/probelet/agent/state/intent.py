"""The intent of a kill: what is on disk from before its first step until the container has ended."""

from typing import Final, Literal

import msgspec

from probelet.policy.rules.grace import GraceSource, KillReason

FOLDER: Final = "intents"
"""The folder in the state directory; a file is named after the container's ID in the runtime."""

_MS_PER_SECOND: Final = 1000


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """One kill of one container instance, ``probelet-intent/1``."""

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
