"""The effective configuration as a document: ``probelet config show -o json`` and ``/configz``."""

from typing import Any

import msgspec

from probelet.config.gate import GATES
from probelet.config.kubelet import Section
from probelet.config.load import Config
from probelet.spec.read.decode import DURATION_FORMAT
from probelet.spec.text.duration import SECOND, format_duration

SCHEMA = "probelet-config/1"


def config_document(config: Config) -> dict[str, Any]:
    """Every effective value. A field without an entry in ``origins`` has its default.

    ``kubeletconfig`` and ``probeletconfig`` are the two documents in the form of a file. ``kubeletconfig``, a name from
    the kubelet's own ``/configz``, holds only the fields that probelet reads.
    """
    curve = config.crash_loop
    return {
        "schema": SCHEMA,
        "crashLoopBackOff": {
            "initial_seconds": _seconds(curve.initial),
            "max_seconds": _seconds(curve.max),
            "reset_seconds": _seconds(curve.reset),
            "source": curve.source,
        },
        "featureGates": {name: config.gates[name] for name in sorted(GATES)},
        "kubeletconfig": written(config.kubelet),
        "probeletconfig": written(config.probelet),
        "origins": dict(sorted(config.origins.items())),
        "warnings": [warning.line_of_log for warning in config.warnings],
    }


def written(section: Section) -> dict[str, Any]:
    """A section in its file's spelling, with defaults and without unset fields."""
    found: dict[str, Any] = {}
    for field in msgspec.inspect.type_info(type(section)).fields:  # type: ignore[attr-defined]
        value = getattr(section, field.name)
        if isinstance(value, Section):
            value = written(value)
        elif value is not None and _is_duration(field.type):
            value = format_duration(value)
        if value is not None and value != {}:
            found[field.encode_name] = value
    return found


def _is_duration(info: msgspec.inspect.Type) -> bool:
    if isinstance(info, msgspec.inspect.UnionType):
        return any(_is_duration(option) for option in info.types)
    return isinstance(info, msgspec.inspect.Metadata) and info.extra == DURATION_FORMAT


def _seconds(nanoseconds: int) -> int | float:
    whole, part = divmod(nanoseconds, SECOND)
    return nanoseconds / SECOND if part else whole
