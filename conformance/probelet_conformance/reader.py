"""Loads recordings from files and checks that they are playable."""

from pathlib import Path

import msgspec

from probelet_conformance.check import check
from probelet_conformance.recording import SCHEMA, Recording, RecordingError, read
from probelet_conformance.shape import Shape


def load(path: Path) -> Recording:
    """Reads one recording.

    Raises:
        RecordingError: the file is unreadable or no recording; the text names the file and the place in it.
    """
    data = read(path)
    try:
        recording = msgspec.json.decode(data, type=Recording)
        if recording.schema != SCHEMA:
            raise ValueError(f"schema: {recording.schema!r}: must be {SCHEMA!r}")
        # Lines stay as written, because they are compared as written; `Shape` checks them separately.
        msgspec.json.decode(data, type=Shape)
        check(recording)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: not a recording: {error}") from error
    return recording
