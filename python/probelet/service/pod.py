"""What of a v1.Pod a caller may hand over.

A kubelet hands its prober what an API server or its own file source has defaulted and validated; neither is done again
here, and what the kubelet's prober would take is taken. Refused, with its field, is what no prober could make sense of.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from probelet.service.error import RequestError
from probelet.service.status import decode_object
from probelet.spec.read.json import SpecError, decode_pod
from probelet.spec.text.problem import FieldError

PROBES: Final = ("startupProbe", "readinessProbe", "livenessProbe")


class Names(NamedTuple):
    """What a pod is called."""

    uid: str
    namespace: str
    name: str


def check_pod(pod: bytes) -> Names:
    """How a v1.Pod is called. Raises RequestError with a line for each field that is impossible."""
    document = decode_object(pod, "pod")
    metadata = document.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    uid = required_uid(metadata.get("uid"), "metadata.uid")
    try:
        mistakes = [str(mistake) for mistake in _spinning(document)]
    except (AttributeError, TypeError):
        # Not a pod: the decoder knows which field it is.
        mistakes = _mistyped(pod)
    if mistakes:
        raise RequestError("INVALID_ARGUMENT", "\n".join(mistakes))
    return Names(uid, str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))


def required_uid(uid: Any, path: str) -> str:
    """A UID. Raises RequestError without one."""
    if not isinstance(uid, str) or not uid:
        raise RequestError("INVALID_ARGUMENT", f"{path}: Required value")
    return uid


def mistyped(pod: bytes, otherwise: str) -> str:
    """What is wrong with a pod that the engine refused with the words ``otherwise``: its fields, where we know them."""
    return "\n".join(_mistyped(pod)) or otherwise


def _mistyped(pod: bytes) -> list[str]:
    try:
        decode_pod(pod)
    except SpecError as error:
        return str(error).splitlines()
    return []


def _spinning(pod: dict[str, Any]) -> Iterator[FieldError]:
    """A worker without a period would never rest; a kubelet's panics (time.NewTicker)."""
    spec = pod.get("spec") or {}
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for name in PROBES:
                probe = container.get(name)
                if probe is not None and not probe.get("periodSeconds", 0) >= 1:
                    path = f"spec.{kind}[{index}].{name}.periodSeconds"
                    value = probe.get("periodSeconds", 0)
                    yield FieldError(path, "Invalid value", value, "must be greater than or equal to 1")
