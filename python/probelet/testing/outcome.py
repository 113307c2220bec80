"""Reads the answers that a test writes for a container.

An answer is what a server would do, and the probe's timeout is what the prober does then. So the time that an answer
takes decides, whatever the answer is: one that takes as long as the timeout, or longer, comes too late. An answer that
contradicts itself, such as `failure * 0` or `timeout 3s`, is a mistake of the test and no answer.
"""

import re
from typing import Any, Final, NoReturn

from probelet.errors import AnswerError
from probelet.spec.text.duration import SECOND, DurationError, parse_duration
from probelet.virtual.argument import check_type

ANSWER: Final = re.compile(
    r"^(success|failure|error|timeout|hang)(?:\s+([-+\w.]+))?(?:\s*:\s*(.*?))?(?:\s*\*\s*(\d+))?$", re.S
)
ALLOWED: Final = "must be success, failure, error, timeout or hang, then a duration, a `: text` or a `* N`"
REPEAT_MAX: Final = 1_000_000_000
"""More attempts than this are no test's intention."""


def step(answer: str, timeout_ms: int) -> dict[str, Any]:
    """Read one answer: `success`, `failure`, `failure: no disk`, `error`, `timeout`, `hang`, each with `* N`.

    A duration is how long the answer takes: `success 200ms`. A success or failure that takes `timeout_ms` or longer is
    a timeout. `hang` never answers; `hang 3s` is a good answer after that time.

    Raises:
        AnswerError: the text is no such answer.
    """
    check_type("answer", answer, str, meant='"failure * 3"')
    match = ANSWER.match(answer.strip())
    if match is None:
        _refuse(answer, ALLOWED)
    kind, duration, text, repeat = match.groups()
    takes_ms = None if duration is None else milliseconds(duration)
    if kind == "timeout" and duration is not None:
        _refuse(answer, f"a timeout takes the probe's timeoutSeconds; `hang {duration}` answers after that time")
    if kind in ("timeout", "hang") and text is not None:
        _refuse(answer, "no text arrives with it; a text is that of a failure, as in `failure: no disk`")
    never = kind == "hang" and takes_ms is None
    late = kind != "error" and takes_ms is not None and takes_ms >= timeout_ms
    found: dict[str, Any] = {"outcome": "timeout" if never or late else "success" if kind == "hang" else kind}
    if takes_ms is not None and not late:
        found["delay_ms"] = takes_ms
    if text is not None:
        found["error" if kind == "error" else "output"] = text
    if repeat is not None:
        found["repeat"] = _repeat(answer, repeat)
    return found


def milliseconds(duration: str, name: str = "duration") -> int:
    """A duration as Go writes it, such as `1m30s`, in whole milliseconds. ``name`` is the parameter's.

    Raises:
        AnswerError: it is not one, or it is negative.
    """
    check_type(name, duration, str, meant='"1m30s"')
    try:
        found = parse_duration(duration)
    except DurationError as error:
        raise AnswerError(str(error)) from error
    if found < 0:
        raise AnswerError(f"{name}: {duration!r}: must not be negative")
    return found * 1_000 // SECOND


def _repeat(answer: str, digits: str) -> int:
    repeat = int(digits[:20])
    if repeat == 0:
        _refuse(answer, "an answer is given at least once; leave out one that is not given")
    if repeat > REPEAT_MAX:
        _refuse(answer, f"at most {REPEAT_MAX} times; the last answer of a script repeats for ever")
    return repeat


def _refuse(answer: str, why: str) -> NoReturn:
    raise AnswerError(f"{answer!r}: {why}")
