"""Go's durations: ``time.ParseDuration`` and ``Duration.String`` to the nanosecond (metav1.Duration in config files).

A duration is an ``int`` of nanoseconds in int64, the unit of every deadline that crosses into the core.
"""

import re

from probelet.errors import ProbeletError

NANOSECOND = 1
MICROSECOND = 1000 * NANOSECOND
MILLISECOND = 1000 * MICROSECOND
SECOND = 1000 * MILLISECOND
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

# Go accepts both micro signs: U+00B5 and the Greek mu U+03BC.
_UNITS = {
    "ns": NANOSECOND,
    "us": MICROSECOND,
    "\u00b5s": MICROSECOND,
    "\u03bcs": MICROSECOND,
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}

DURATION_MIN = -(2**63)
DURATION_MAX = 2**63 - 1

_PART = re.compile(r"(?P<whole>[0-9]*)(?P<dot>\.?)(?P<fraction>[0-9]*)(?P<unit>[^0-9.]*)", re.ASCII | re.DOTALL)


class DurationError(ProbeletError, ValueError):
    """Go's ``time.ParseDuration`` refuses the text; the message is Go's."""


def parse_duration(text: str) -> int:
    """Parses ``text`` as Go's ``time.ParseDuration``: ``300ms``, ``-1.5h``, ``2h45m``. Returns nanoseconds.

    Raises ``DurationError`` with Go's message, for example ``time: missing unit in duration "4"``.
    """
    quoted = _quote(text)
    invalid = DurationError(f"time: invalid duration {quoted}")
    rest = text[1:] if text[:1] in ("-", "+") else text
    negative = text[:1] == "-"
    if rest == "0":
        return 0
    if not rest:
        raise invalid
    # The magnitude may be 2**63: only a negative duration reaches it.
    total = 0
    while rest:
        match = _PART.match(rest)
        if match is None or not (match["whole"] or match["fraction"]):
            raise invalid
        digits = match["whole"].lstrip("0")
        whole = int(digits or 0) if len(digits) <= len(str(2**63)) else 2**64
        if whole > 2**63:
            raise invalid
        if not match["unit"]:
            raise DurationError(f"time: missing unit in duration {quoted}")
        unit = _UNITS.get(match["unit"])
        if unit is None:
            raise DurationError(f"time: unknown unit {_quote(match['unit'])} in duration {quoted}")
        total += whole * unit + _fraction(match["fraction"], unit)
        if total > 2**63:
            raise invalid
        rest = rest[match.end() :]
    if negative:
        return -total
    if total > DURATION_MAX:
        raise invalid
    return total


def _fraction(digits: str, unit: int) -> int:
    """Nanoseconds of ``.digits`` units, truncated as in Go: digits beyond int64 are dropped, then a float product."""
    value, scale = 0, 1.0
    for digit in digits:
        # time.leadingFraction ignores the remaining digits once the value would exceed 2**63-1.
        if value > DURATION_MAX // 10 or value * 10 + int(digit) > 2**63:
            break
        value = value * 10 + int(digit)
        scale *= 10
    return int(float(value) * (float(unit) / scale)) if value else 0


def format_duration(nanoseconds: int) -> str:
    """Renders as Go's ``Duration.String``: ``1m30s``, ``1.5s``, ``100ms``, ``0s``."""
    sign = "-" if nanoseconds < 0 else ""
    rest = abs(nanoseconds)
    if rest == 0:
        return "0s"
    for name, unit, larger in (
        ("ns", 1, MICROSECOND),
        ("\u00b5s", MICROSECOND, MILLISECOND),
        ("ms", MILLISECOND, SECOND),
    ):
        if rest < larger:
            return f"{sign}{_decimal(rest, unit)}{name}"
    minutes, below = divmod(rest, MINUTE)
    text = f"{_decimal(below, SECOND)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = (f"{hours}h" if hours else "") + f"{minutes}m" + text
    return sign + text


def _decimal(value: int, unit: int) -> str:
    whole, part = divmod(value, unit)
    digits = f"{part:0{len(str(unit)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)


def _quote(text: str) -> str:
    """Quotes as Go's ``time.quote``: bytes outside printable ASCII become ``\\xNN``; escapes quotes and backslashes."""
    parts = []
    for char in text:
        if char in '"\\':
            parts.append("\\" + char)
        elif " " <= char < "\x7f":
            parts.append(char)
        else:
            parts.extend(f"\\x{byte:02x}" for byte in char.encode(errors="surrogatepass"))
    return '"' + "".join(parts) + '"'
