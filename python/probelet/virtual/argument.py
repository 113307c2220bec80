"""Arguments of a wrong type: a ``TypeError`` at the call, and no run that means something else."""

from typing import Any, Final

NOUNS: Final = {str: "a text", bool: "True or False", int: "a whole number"}


def check_type(name: str, value: Any, kind: type, *, meant: str = "") -> None:
    """Raises ``TypeError`` if ``value`` is not of ``kind``; True and False are no numbers. ``meant`` says what to write
    instead, such as ``"1m30s"``."""
    # A mistake is shown at the line of the test, and not here.
    __tracebackhide__ = True
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return
    hint = f", such as {meant}" if meant else ""
    raise TypeError(f"{name}: {value!r}: must be {NOUNS.get(kind, f'a {kind.__name__}')}{hint}")
