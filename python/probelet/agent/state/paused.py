"""Pauses of probes, kept across restarts of the agent."""

from typing import Final, Literal

import msgspec

from probelet.spec.model.probe import ProbeType

FOLDER: Final = "pauses"
"""The folder in the state directory; a file is named after the pod's UID."""


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
