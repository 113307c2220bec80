"""The result of one probe: a ``probelet-probe/1`` document, or the part of it that one attempt fills."""

import base64
from typing import Any

SCHEMA = "probelet-probe/1"

# In chronological order; a part that the attempt did not reach is absent.
TIMINGS = ("dns", "connect", "tls", "headers", "body", "exec")
# ``output_base64`` appears with an output that is not UTF-8, ``exit_code`` with a command that ran.
KEYS = (
    *("schema", "outcome", "output", "output_base64", "error", "cause", "duration_ms", "phases_ms"),
    *("result", "exit_code", "tries"),
)

Seen = dict[str, Any]


def exact(output: bytes) -> Seen:
    """The extra key for an output that is no text."""
    return {"output_base64": base64.b64encode(output).decode()}


def document(seen: Seen, tries: int) -> Seen:
    """The complete document; its keys are in reading order."""
    seen = {"schema": SCHEMA, **seen, "tries": tries}
    timings = {name: seen["phases_ms"][name] for name in TIMINGS if name in seen["phases_ms"]}
    return {key: timings if key == "phases_ms" else seen[key] for key in KEYS if key in seen}
