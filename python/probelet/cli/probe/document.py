"""The result of one probe: a ``probelet-probe/1`` document, or the part of it that one attempt fills."""

import base64
from typing import Any, Final, Literal, NotRequired, TypedDict

SCHEMA: Final = "probelet-probe/1"

# In chronological order; a part that the attempt did not reach is absent.
TIMINGS = ("dns", "connect", "tls", "headers", "body", "exec")


class AttemptDocument(TypedDict):
    """The result of one probe."""

    schema: Literal["probelet-probe/1"]
    outcome: Literal["success", "warning", "failure", "error"]
    """The outcome of the last attempt; an error is the prober's own."""
    output: str
    """The text that the probe reads: the body, the output of the command; for another end its text. Empty for an
    error."""
    output_base64: NotRequired[str]
    """The exact output, if it is not UTF-8."""
    error: str | None
    """The error; null without one."""
    cause: str
    """Why the attempt ended as it did, in one word: the label ``cause`` of the metrics has the same words."""
    duration_ms: float
    """How long the last attempt took."""
    phases_ms: dict[str, float]
    """How long its parts took: ``dns``, ``connect``, ``tls``, ``headers``, ``body``, ``exec``; a part that the attempt
    did not reach is absent."""
    result: Literal["success", "warning", "failure", "unknown"]
    """The prober's result for the outcome; ``unknown`` counts as none."""
    exit_code: NotRequired[int]
    """The exit code of a command that ran."""
    tries: int
    """How many attempts it took to get an outcome that is no error."""


KEYS = tuple(AttemptDocument.__annotations__)
"""In reading order."""

Seen = dict[str, Any]


def exact(output: bytes) -> Seen:
    """The extra key for an output that is no text."""
    return {"output_base64": base64.b64encode(output).decode()}


def document(seen: Seen, tries: int) -> Seen:
    """The complete document; its keys are in reading order."""
    seen = {"schema": SCHEMA, **seen, "tries": tries}
    timings = {name: seen["phases_ms"][name] for name in TIMINGS if name in seen["phases_ms"]}
    return {key: timings if key == "phases_ms" else seen[key] for key in KEYS if key in seen}
