"""Loads handler cases: one in a `*.json` file, or one on each line of a `*.jsonl` file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from probelet_conformance.handlers.case.case import Case
from probelet_conformance.handlers.case.check import check
from probelet_conformance.handlers.case.shape import Shape
from probelet_conformance.recording import RecordingError, read

SCHEMA = "kubelet-handler-case/1"


def load(path: Path) -> list[Case]:
    """Reads every case of a file.

    Raises:
        RecordingError: the file is unreadable, or a part of it is no case; the text names file and line.
    """
    return [_case(where, text, path.parent) for where, text in _texts(path)]


def _texts(path: Path) -> Iterator[tuple[str, bytes]]:
    data = read(path)
    if path.suffix == ".json":
        yield str(path), data
        return
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            yield f"{path}:{number}", line


def _case(where: str, text: bytes, folder: Path) -> Case:
    try:
        raw: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
        msgspec.convert(raw, Shape)
        case = Case.of(raw, folder)
        check(case)
    except KeyError as error:
        raise RecordingError(f"{where}: not a handler case: no {error.args[0]!r} in it") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise RecordingError(f"{where}: not a handler case: {error}") from error
    if (schema := raw.get("schema", SCHEMA)) != SCHEMA:
        raise RecordingError(f"{where}: schema: {schema!r}: must be {SCHEMA!r}")
    return case
