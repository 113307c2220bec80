"""A second ``time.ParseDuration`` (Go 1.26) that reads byte by byte as Go does; the tests compare ours with it."""

_UNITS = {
    b"ns": 1,
    b"us": 1_000,
    "\u00b5s".encode(): 1_000,
    "\u03bcs".encode(): 1_000,
    b"ms": 1_000_000,
    b"s": 1_000_000_000,
    b"m": 60_000_000_000,
    b"h": 3_600_000_000_000,
}
_DIGITS = b"0123456789"


def go_duration(text: str) -> int | str:
    """Returns nanoseconds, or the kind of the error: ``invalid``, ``missing unit`` or ``unknown unit``."""
    rest = text.encode()
    negative = rest[:1] == b"-"
    if rest[:1] in (b"-", b"+"):
        rest = rest[1:]
    if rest == b"0":
        return 0
    total = 0
    parts = 0
    while rest or not parts:
        parts += 1
        value, rest, whole_digits = _whole(rest)
        fraction, scale, fraction_digits = 0, 1.0, 0
        if rest[:1] == b".":
            fraction, scale, rest, fraction_digits = _fraction(rest[1:])
        if value > 2**63 or not (whole_digits or fraction_digits):
            return "invalid"
        length = next((at for at, byte in enumerate(rest) if byte in _DIGITS + b"."), len(rest))
        name, rest = rest[:length], rest[length:]
        if not name:
            return "missing unit"
        if name not in _UNITS:
            return "unknown unit"
        total += value * _UNITS[name] + (int(fraction * (_UNITS[name] / scale)) if fraction else 0)
        if total > 2**63:
            return "invalid"
    if total == 2**63 and not negative:
        return "invalid"
    return -total if negative else total


def _whole(rest: bytes) -> tuple[int, bytes, int]:
    """Go's ``leadingInt``; a value above 2^63 stands for Go's overflow error."""
    value = taken = 0
    while rest[taken : taken + 1] and rest[taken] in _DIGITS:
        value = min(value * 10 + rest[taken] - ord("0"), 2**63 + 1)
        taken += 1
    return value, rest[taken:], taken


def _fraction(rest: bytes) -> tuple[int, float, bytes, int]:
    """Go's ``leadingFraction``: it reads digits beyond 63 bits and drops them."""
    value, scale, taken, is_full = 0, 1.0, 0, False
    while rest[taken : taken + 1] and rest[taken] in _DIGITS:
        more = value * 10 + rest[taken] - ord("0")
        is_full = is_full or value > (2**63 - 1) // 10 or more > 2**63
        if not is_full:
            value, scale = more, scale * 10
        taken += 1
    return value, scale, rest[taken:], taken
