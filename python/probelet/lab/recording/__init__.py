"""Reads the files of a flight recorder, and plays its pods with other probes. The bytes and the plays are Rust's
(``rust/play/src/recording``, ``rust/play/src/whatif``); here they have types.
"""

from probelet.lab.recording.model import (
    Kill,
    Life,
    Numbers,
    Played,
    RecordedContainer,
    RecordedPod,
    RecordedTurn,
    Result,
    Seen,
    Stretch,
    Turned,
)
from probelet.lab.recording.reader import Assumption, Change, Recording

__all__ = [
    "Assumption",
    "Change",
    "Kill",
    "Life",
    "Numbers",
    "Played",
    "RecordedContainer",
    "RecordedPod",
    "RecordedTurn",
    "Recording",
    "Result",
    "Seen",
    "Stretch",
    "Turned",
]
