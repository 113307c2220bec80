"""The flags of ``probelet backoff``: a curve, and a crashing container."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from probelet.cli.exit import CliError

if TYPE_CHECKING:
    from probelet.lab.backoff import Curve, Life

_S = 1_000_000_000
YEAR = 8760 * 3600 * _S
"""The longest run: a longer one outlasts every window."""


def nanoseconds(text: str) -> int:
    """Parses a Go duration that is not negative. Raises ValueError, one line."""
    from probelet.spec.text.duration import DurationError, parse_duration

    try:
        found = parse_duration(text)
    except DurationError:
        found = -1
    if found < 0:
        raise ValueError(f'"{text}" is not a duration; want for example 10s, 1m30s or 500ms')
    return found


def span(_: Any, tokens: Sequence[Token]) -> int:
    return nanoseconds(tokens[0].value)


def _above_zero(_: Any, tokens: Sequence[Token]) -> int:
    found = nanoseconds(tokens[0].value)
    if found == 0:
        raise ValueError(f'"{tokens[0].value}" is not a duration above zero; want for example 10s, 1m30s or 500ms')
    return found


def _range(_: Any, tokens: Sequence[Token]) -> tuple[int, int]:
    shortest, dots, longest = tokens[0].value.partition("..")
    low = nanoseconds(shortest)
    high = nanoseconds(longest) if dots else low
    if high > YEAR:
        raise ValueError(f'"{tokens[0].value}" is longer than 8760h')
    if high < low:
        raise ValueError(f'"{tokens[0].value}" ends before it begins')
    return low, high


def _count(_: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= COUNT_MAX:
        raise ValueError(f'"{text}" is not a number between 1 and {COUNT_MAX:,}')
    return int(text)


def _seed(_: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    if not text.isascii() or not text.isdecimal() or int(text[:20]) >= 2**64:
        raise ValueError(f'"{text}" is not a number between 0 and 2^64 - 1')
    return int(text[:20])


COUNT_MAX = 10_000_000
"""Limit of pods, and of restarts in a table: more takes minutes and makes an unreadable table."""

Count = Annotated[int, Parameter(converter=_count, metavar="N")]
Window = Annotated[int, Parameter(converter=_above_zero, allow_leading_hyphen=True, metavar="TIME", show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShapeFlags:
    """The shape of a curve apart from its initial and longest delay."""

    factor: Annotated[float, Parameter(help="Ratio of each delay to the one before.")] = 2
    reset: Annotated[
        int,
        Parameter(
            converter=span,
            allow_leading_hyphen=True,
            metavar="TIME",
            show_default=False,
            help="A longer run resets the delay. Default: 10m.",
        ),
    ] = 600 * _S
    jitter: Annotated[float, Parameter(help="Random share of the previous delay to add; the kubelet's is 0.")] = 0
    first_free: Annotated[
        bool,
        Parameter(
            negative="--no-first-free",
            help="The first restart has no delay, as in every kubelet; else as documented.",
        ),
    ] = True

    def curve(self, text: str) -> "Curve":
        """The curve ``text``, such as ``10s/5m``, with these flags."""
        from probelet.lab.backoff import Curve, CurveError

        try:
            return Curve.parse(
                text, factor=self.factor, reset_ns=self.reset, jitter=self.jitter, first_free=self.first_free
            )
        except CurveError as error:
            raise CliError(f"CURVE: {error}") from error


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LifeFlags:
    """The run and exit of the container, and the scheduler that restarts it."""

    run: Annotated[
        tuple[int, int],
        Parameter(
            converter=_range,
            allow_leading_hyphen=True,
            n_tokens=1,
            metavar="TIME",
            show_default=False,
            help="How long each run takes, or a range, 5s..30s. Default: 0s.",
        ),
    ] = (0, 0)
    policy: Annotated[Literal["Always", "OnFailure"], Parameter(help="restartPolicy.")] = "Always"
    scheduler: Annotated[
        Literal["exact", "kubelet"], Parameter(help="exact: restarts when due; kubelet: at its sync loop's next look.")
    ] = "exact"
    seed: Annotated[int, Parameter(converter=_seed, help="Seed of all random numbers.")] = 0

    def life(self, exit_code: int = 1) -> "Life":
        """The life in the model's form."""
        from probelet.lab.backoff import Life

        return Life(*self.run, exit_code=exit_code, policy=self.policy, scheduler=self.scheduler)


def curve_of(initial: int, longest: int, shape: ShapeFlags) -> "Curve":
    """The curve of ``--initial`` and ``--max``."""
    from probelet.lab.backoff import Curve, CurveError

    try:
        return Curve(initial, longest, shape.factor, shape.reset, shape.jitter, shape.first_free)
    except CurveError as error:
        raise CliError(str(error)) from error


SHAPE = ShapeFlags()
LIFE = LifeFlags()
