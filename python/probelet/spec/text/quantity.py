"""Quantities such as ``100m``, ``0.5``, ``64Mi`` (apimachinery ``resource.Quantity``)."""

import re
from fractions import Fraction
from typing import Any, Final

SYNTAX: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
"""apimachinery's message for a malformed quantity."""

_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eE](?P<exponent>[+-]?[0-9]{1,3})|(?P<suffix>\D*))"
)
_DECIMAL = {
    suffix: 3 * power for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), start=-3)
}
_BINARY = {f"{letter}i": 10 * power for power, letter in enumerate("KMGTPE", start=1)}


def parse_quantity(value: Any) -> Fraction:
    """Parses a quantity given as a text or a number. Raises ValueError with ``SYNTAX``."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(SYNTAX)
    found = _QUANTITY.fullmatch(str(value))
    if found is None:
        raise ValueError(SYNTAX)
    number = Fraction(found["number"])
    if found["exponent"]:
        return number * _power(10, int(found["exponent"]))
    suffix = found["suffix"] or ""
    if suffix in _BINARY:
        return number * _power(2, _BINARY[suffix])
    if suffix in _DECIMAL:
        return number * _power(10, _DECIMAL[suffix])
    raise ValueError(SYNTAX)


def _power(base: int, exponent: int) -> Fraction:
    return Fraction(base**exponent) if exponent >= 0 else Fraction(1, base**-exponent)
