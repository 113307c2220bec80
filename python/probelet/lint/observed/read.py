"""Reads files of observations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from probelet.base.files.regular_file import read_regular
from probelet.errors import ProbeletError, RecordingError
from probelet.lint.observed.clients import clients_by_prometheus
from probelet.lint.observed.container import Observation
from probelet.lint.observed.prometheus import observed_by_prometheus
from probelet.lint.observed.statusz import observed_by_probelet

FILE_BYTES_MAX: Final = 256 * 1024 * 1024
"""The status of a node of 1,000 pods has a few MiB; an answer of Prometheus may have that of a whole cluster."""

_WANTED: Final = "want a recording, or the JSON of 'probelet status', of /statusz, or of a query of Prometheus"
_SEGMENT: Final = b"probelet-f"
"""The first bytes of a segment of a recording, whatever its version."""


class ObservedError(ProbeletError):
    """A file that has no observations; one line."""


def read_observed(path: Path) -> list[Observation]:
    """Reads the observations from a file or a flight recorder's directory. Raises ``ObservedError``."""
    if _is_recording(path):
        return _recorded(path)
    try:
        document = json.loads(read_regular(path, FILE_BYTES_MAX))
        return list(_containers(document))
    except OSError as error:
        raise ObservedError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ObservedError(f"{path}: no observations: it is no JSON: {error}; {_WANTED}") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ObservedError(f"{path}: no observations ({type(error).__name__}: {error}); {_WANTED}") from None


def _is_recording(path: Path) -> bool:
    try:
        return path.is_dir() or (path.is_file() and _begins(path) == _SEGMENT)
    except OSError:
        return False


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_SEGMENT))


def _recorded(path: Path) -> list[Observation]:
    # Few runs have a recording, and its reader comes with the whole of `whatif`.
    from probelet.lab.recording import Recording
    from probelet.lint.observed.recording import observed_by_recording

    try:
        return list(observed_by_recording(Recording(path)))
    except RecordingError as error:
        raise ObservedError(str(error)) from None


def _containers(document: Any) -> Iterator[Observation]:
    documents = document if isinstance(document, list) else [document]
    own = [each for each in documents if each.get("schema") == "probelet-status/1"]
    for each in own:
        yield from observed_by_probelet(each)
    answers = [each for each in documents if each not in own]
    yield from observed_by_prometheus(answers)
    yield from clients_by_prometheus(answers)
