"""Checks a v1.Pod that a caller hands over.

A kubelet's prober gets pods that an API server or a file source has defaulted and validated. The service does neither
again: it takes what the kubelet's prober would take, and refuses, with the field, what no prober can work with.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from probelet.service.error import RequestError
from probelet.service.status import decode_object
from probelet.spec.read.json import SpecError, decode_pod
from probelet.spec.text.problem import FieldError

PROBES: Final = ("startupProbe", "readinessProbe", "livenessProbe")


class Names(NamedTuple):
    """The identity of a pod."""

    uid: str
    namespace: str
    name: str


def check_pod(pod: bytes) -> Names:
    """The identity of a v1.Pod. Raises RequestError with a line for each impossible field."""
    document = decode_object(pod, "pod")
    metadata = document.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    uid = required_uid(metadata.get("uid"), "metadata.uid")
    try:
        mistakes = [str(mistake) for mistake in _spinning(document)]
    except (AttributeError, TypeError):
        # The document is no pod: the decoder says which field is wrong.
        mistakes = _mistyped(pod)
    if mistakes:
        raise RequestError("INVALID_ARGUMENT", "\n".join(mistakes))
    return Names(uid, str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))


def required_uid(uid: Any, path: str) -> str:
    """The UID. Raises RequestError if it is missing or empty."""
    if not isinstance(uid, str) or not uid:
        raise RequestError("INVALID_ARGUMENT", f"{path}: Required value")
    return uid


def mistyped(pod: bytes, otherwise: str) -> str:
    """The mistakes of a pod that the engine refused: a line for each field, or the engine's text ``otherwise``."""
    return "\n".join(_mistyped(pod)) or otherwise


def _mistyped(pod: bytes) -> list[str]:
    try:
        decode_pod(pod)
    except SpecError as error:
        return str(error).splitlines()
    return []


def _spinning(pod: dict[str, Any]) -> Iterator[FieldError]:
    """The probes without a period: their worker would run all the time, and the kubelet's panics (time.NewTicker)."""
    spec = pod.get("spec") or {}
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for name in PROBES:
                probe = container.get(name)
                if probe is not None and not probe.get("periodSeconds", 0) >= 1:
                    path = f"spec.{kind}[{index}].{name}.periodSeconds"
                    value = probe.get("periodSeconds", 0)
                    yield FieldError(path, "Invalid value", value, "must be greater than or equal to 1")
