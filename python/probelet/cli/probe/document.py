"""What one probe saw: a ``probelet-probe/1`` document, or the part of it that one attempt fills."""

import base64
from typing import Any

SCHEMA = "probelet-probe/1"

# As they come one after the other; one that was not reached is absent.
PHASES = ("dns", "connect", "tls", "headers", "body", "exec")
# ``output_base64`` stands beside an output that is not UTF-8, ``exit_code`` is of a command that ran.
KEYS = (
    *("schema", "outcome", "output", "output_base64", "error", "cause", "duration_ms", "phases_ms"),
    *("result", "exit_code", "tries"),
)

Seen = dict[str, Any]


def exact(output: bytes) -> Seen:
    """What stands beside an output that is no text."""
    return {"output_base64": base64.b64encode(output).decode()}


def document(seen: Seen, tries: int) -> Seen:
    """The whole document, its keys in the order in which they are read."""
    seen = {"schema": SCHEMA, **seen, "tries": tries}
    phases = {name: seen["phases_ms"][name] for name in PHASES if name in seen["phases_ms"]}
    return {key: phases if key == "phases_ms" else seen[key] for key in KEYS if key in seen}
