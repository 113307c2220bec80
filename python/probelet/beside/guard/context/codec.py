"""Writes the annotation as Go's ``encoding/json`` does, and reads any JSON with the same meaning.

Source: kruise 1.9.0 pkg/webhook/pod/mutating/enhancedlivenessprobe_handler.go (``containerLivenessProbe``).
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from probelet.errors import ProbeletError
from probelet.spec.model.meta import Object
from probelet.spec.model.probe import Probe

# Go escapes these so that a JSON text may stand inside HTML (encoding/json ``Marshal``).
_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_TABLE: Final = str.maketrans(_ESCAPES)


class Entry(Object, frozen=True, kw_only=True):
    """A container and its liveness probe."""

    name: str = msgspec.field(default_factory=str)
    liveness_probe: Probe = msgspec.field(default_factory=Probe)


class ContextError(ProbeletError):
    """The annotation is no JSON list of containers with their probes; the text is one line."""


def encode(entries: Sequence[Entry]) -> str:
    """Writes entries: compact, fields in Go's order, no zero values, characters of HTML escaped."""
    written = [msgspec.structs.replace(each, liveness_probe=_as_go(each.liveness_probe)) for each in entries]
    return msgspec.json.encode(written).decode().translate(_TABLE)


def _as_go(probe: Probe) -> Probe:
    """Go writes the service of a gRPC probe also if it is empty."""
    if probe.grpc is None or probe.grpc.service is not None:
        return probe
    return msgspec.structs.replace(probe, grpc=msgspec.structs.replace(probe.grpc, service=""))


def decode(text: str) -> list[Entry]:
    """Reads entries in any order of keys and with any white space. Checks types, not values.

    Raises:
        ContextError: the text is no JSON, or a value has a wrong type.
    """
    try:
        return msgspec.json.decode(text, type=list[Entry])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise ContextError(f"not a JSON list of containers with their liveness probes: {error}") from None
