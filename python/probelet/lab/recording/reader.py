"""Reads a recording and plays its pods."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from probelet._rust import Recording as _Recording
from probelet.lab.recording.model import Described, Numbers, Played, Stretch, Turned
from probelet.spec.model.probe import ProbeType

Assumption: TypeAlias = Literal["healthy", "failing"]
"""How a container answers where nobody knows."""


class Change(msgspec.Struct, frozen=True):
    """Another probe of a container; None for no probe."""

    container: str
    type: ProbeType
    probe: Numbers | None


class Recording:
    """The recording of a flight recorder.

    Args:
        path: a directory of segments, or one file of a segment or of several.

    Raises:
        RecordingError: it cannot be read, it is no recording, or it is damaged; one line with the place.
    """

    def __init__(self, path: Path) -> None:
        self._recording = _Recording(path)
        self._described = msgspec.json.decode(self._recording.describe(), type=Described)

    @property
    def node(self) -> str:
        """The node's name."""
        return self._described.node

    @property
    def lost(self) -> int:
        """Entries that are missing, because the disk hung or was full."""
        return self._described.lost

    @property
    def cuts(self) -> list[str]:
        """A line for each segment that was cut because its service was killed."""
        return self._described.cuts

    @property
    def stretches(self) -> list[Stretch]:
        """The stretches without a loss, in order."""
        return self._described.stretches

    def play(self, stretch: int, pod: int, changes: Iterable[Change], assume: Assumption) -> Played:
        """Plays the pod number ``pod`` of the stretch number ``stretch``, from 0.

        Without changes this gives what really happened.
        """
        encoded = msgspec.json.encode(list(changes))
        return msgspec.json.decode(self._recording.play(stretch, pod, encoded, assume), type=Played)

    def turns(self, stretch: int, pod: int) -> Turned:
        """The attempts of a pod that say something new, in the order of their ends."""
        return msgspec.json.decode(self._recording.turns(stretch, pod), type=Turned)
