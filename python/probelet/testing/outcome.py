"""Reads the answers that a test writes for a container."""

import re
from typing import Any

from probelet.errors import AnswerError
from probelet.spec.text.duration import SECOND, DurationError, parse_duration

ANSWER = re.compile(r"^(success|failure|error|timeout|hang)(?:\s+([\w.]+))?(?:\s*:\s*(.*?))?(?:\s*\*\s*(\d+))?$", re.S)


def step(answer: str) -> dict[str, Any]:
    """Read one answer: `success`, `failure`, `failure: no disk`, `error`, `timeout`, `hang 3s`, each with `* N`.

    `hang` answers well after that time, unless the probe's timeout comes first. A duration behind another answer is how
    long it takes: `success 200ms`.

    Raises:
        AnswerError: the text is no such answer.
    """
    match = ANSWER.match(answer.strip())
    if match is None:
        raise AnswerError(
            f"{answer!r}: must be success, failure, error, timeout or hang, then a duration, a `: text` or a `* N`"
        )
    kind, duration, text, repeat = match.groups()
    found: dict[str, Any] = {"outcome": kind}
    if duration is not None:
        found["hang_ms" if kind == "hang" else "delay_ms"] = milliseconds(duration)
    if text is not None:
        found["error" if kind == "error" else "output"] = text
    if repeat is not None:
        found["repeat"] = int(repeat)
    return found


def milliseconds(duration: str) -> int:
    """A duration as Go writes it, such as `1m30s`, in whole milliseconds.

    Raises:
        AnswerError: it is not one.
    """
    try:
        return parse_duration(duration) * 1_000 // SECOND
    except DurationError as error:
        raise AnswerError(str(error)) from error
