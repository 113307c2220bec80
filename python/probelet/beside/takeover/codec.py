"""The annotation ``probelet.dev/probes``: ``{"app":{"livenessProbe":{...},"readinessProbe":{...}}}``."""

from typing import Any, Final

import msgspec

from probelet.beside.takeover.names import PROBES_ANNOTATION
from probelet.beside.takeover.view import Entries
from probelet.errors import ProbeletError
from probelet.spec.model.probe import PROBE_TYPES, ProbeType
from probelet.spec.text.golang import go_quote

ANNOTATION_BYTES_MAX: Final = 256 * 1024
"""The API server takes this many bytes of annotations, all keys and values together (apimachinery
``TotalAnnotationSizeLimitB``, 1.36)."""

_TYPES: Final[dict[str, ProbeType]] = {f"{probe_type}Probe": probe_type for probe_type in PROBE_TYPES}


class AnnotationError(ProbeletError, ValueError):
    """The annotation as a whole cannot be read; one line."""


def encode(entries: Entries) -> str:
    """The annotation's text. Equal entries in equal order give equal bytes."""
    return msgspec.json.encode(
        {
            container: {field: probes[probe_type] for field, probe_type in _TYPES.items() if probe_type in probes}
            for container, probes in entries.items()
        }
    ).decode()


def decode(text: str) -> Entries:
    """Reads the annotation's text. Raises AnnotationError if it is not containers, probe fields and objects."""
    if len(text) > ANNOTATION_BYTES_MAX:
        raise AnnotationError(f"{PROBES_ANNOTATION}: {len(text)} bytes, more than the {ANNOTATION_BYTES_MAX} allowed")
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise AnnotationError(f"{PROBES_ANNOTATION}: not JSON: {error}") from None
    return {container: _probes(container, value) for container, value in _mapping(document, "the annotation").items()}


def _probes(container: str, value: Any) -> dict[ProbeType, dict[str, Any]]:
    place = f"container {go_quote(container)}"
    probes: dict[ProbeType, dict[str, Any]] = {}
    for field, probe in _mapping(value, place).items():
        if field not in _TYPES:
            allowed = ", ".join(_TYPES)
            raise AnnotationError(f"{PROBES_ANNOTATION}: {place} has {go_quote(field)}, which is none of {allowed}")
        probes[_TYPES[field]] = _mapping(probe, f"{field} of {place}")
    return probes


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise AnnotationError(f"{PROBES_ANNOTATION}: {place} must be a JSON object")
