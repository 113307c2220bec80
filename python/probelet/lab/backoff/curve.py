"""A curve: the delays before each restart of a container."""

from dataclasses import dataclass, replace
from typing import Final

from probelet.errors import ProbeletError
from probelet.spec.text.duration import HOUR, MILLISECOND, SECOND, DurationError, format_duration, parse_duration

INITIAL_MIN_NS: Final = MILLISECOND
"""Below this, a container that crashes at once restarts so often that the model would never end."""

SPAN_MAX_NS: Final = 8760 * HOUR
"""A year; the core's clock ends after 584."""

FACTOR_MIN, FACTOR_MAX = 1, 1000


class CurveError(ProbeletError, ValueError):
    """The curve is invalid; the message is one line with the allowed values."""


@dataclass(frozen=True)
class Curve:
    """The shape of the delays, in nanoseconds; ``factor`` in [1, 1000] and ``jitter`` in [0, 1], in thousandths.

    An ``initial_ns`` above ``max_ns`` becomes ``max_ns``, as in the kubelet (KEP-4603, Conflict resolution). With
    ``first_free`` the first restart, and the first after a reset, has no delay, as in every kubelet so far
    (kubernetes#123602); without it, the delay is ``initial_ns``, as documented. ``jitter`` adds at random up to that
    share of the previous delay (client-go ``maxJitterFactor``; the kubelet passes 0).

    Raises:
        CurveError: a value is out of range.
    """

    initial_ns: int
    max_ns: int
    factor: float = 2
    reset_ns: int = 600 * SECOND
    jitter: float = 0
    first_free: bool = True

    def __post_init__(self) -> None:
        for name, span in (("initial", self.initial_ns), ("max", self.max_ns)):
            if not INITIAL_MIN_NS <= span <= SPAN_MAX_NS:
                least = format_duration(INITIAL_MIN_NS)
                raise CurveError(f"{name} {format_duration(span)}: must be between {least} and 8760h")
        if self.reset_ns < SECOND:
            raise CurveError(f"reset {format_duration(self.reset_ns)}: must be at least 1s")
        if not FACTOR_MIN <= self.factor <= FACTOR_MAX:
            raise CurveError(f"factor {self.factor:g}: must be between {FACTOR_MIN} and {FACTOR_MAX}")
        if not 0 <= self.jitter <= 1:
            raise CurveError(f"jitter {self.jitter:g}: must be between 0 and 1")
        object.__setattr__(self, "initial_ns", min(self.initial_ns, self.max_ns))

    @classmethod
    def parse(cls, text: str, **fields: float | bool) -> "Curve":
        """Parses ``INITIAL/MAX``: ``10s/5m``, or in seconds ``10/300``. ``fields`` sets the other attributes.

        Raises:
            CurveError: ``text`` is no curve, or a value is out of range.
        """
        initial, slash, longest = text.partition("/")
        if not slash:
            raise CurveError(f'"{text}" is not a curve; want INITIAL/MAX, for example 10s/5m or 1/60')
        try:
            made = cls(_span(initial), _span(longest))
            return replace(made, **fields)  # type: ignore[arg-type]
        except DurationError as error:
            raise CurveError(f'"{text}" is not a curve; want INITIAL/MAX, for example 10s/5m or 1/60') from error
        except CurveError as error:
            raise CurveError(f"{text}: {error}") from error

    @property
    def name(self) -> str:
        """``10s/300s``."""
        return f"{seconds_text(self.initial_ns)}/{seconds_text(self.max_ns)}"


def seconds(nanoseconds: int) -> int | float:
    """Seconds, as an ``int`` if they are whole: the form in documents."""
    whole, part = divmod(nanoseconds, SECOND)
    return nanoseconds / SECOND if part else whole


def seconds_text(nanoseconds: int) -> str:
    """``300s``, ``250ms``, ``1.5s``: in seconds from one second on, so that curves are easy to compare."""
    if nanoseconds < SECOND:
        return format_duration(nanoseconds)
    return f"{seconds(nanoseconds)}s"


def _span(text: str) -> int:
    return parse_duration(f"{text}s" if text.replace(".", "", 1).isdecimal() and text.isascii() else text)


TODAY: Final = Curve(10 * SECOND, 300 * SECOND)
"""10 s doubling to 300 s: every kubelet's default."""

REDUCED: Final = Curve(SECOND, 60 * SECOND)
"""1 s doubling to 60 s: the default with the gate ReduceDefaultCrashLoopBackOffDecay."""
