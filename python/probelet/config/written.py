"""A section of the configuration as its file writes it."""

from typing import Any

from probelet.config.kubelet import Section
from probelet.spec.read.decode import file_fields, is_duration
from probelet.spec.text.duration import format_duration, parse_duration


def written(section: Section) -> dict[str, Any]:
    """A section in its file's spelling, with defaults and without unset fields."""
    found: dict[str, Any] = {}
    for field in file_fields(type(section)):
        value = getattr(section, field.name)
        if isinstance(value, Section):
            value = written(value)
        elif value is not None and is_duration(field.type):
            value = format_duration(parse_duration(value) if isinstance(value, str) else value)
        if value is not None and value != {}:
            found[field.encode_name] = value
    return found
