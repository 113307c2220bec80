"""Numbers that may be written as a percentage (apimachinery ``util/intstr``, 1.36)."""

from probelet.spec.model.int_or_string import IntOrString


def scaled(value: IntOrString | None, of: int, *, default: IntOrString, up: bool) -> int:
    """A number, or a percentage of ``of``, rounded up or down (apimachinery ``GetScaledValueFromIntOrPercent``, 1.36).

    Raises:
        ValueError: it is neither; the text is the API server's.
    """
    value = default if value is None else value
    if isinstance(value, int):
        if value < 0:
            raise ValueError("must be greater than or equal to 0")
        return value
    digits = value.removesuffix("%")
    if digits == value or not digits.isdecimal():
        raise ValueError("a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%')")
    return (of * int(digits) + (99 if up else 0)) // 100
