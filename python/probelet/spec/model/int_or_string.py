"""IntOrString (apimachinery ``util/intstr``): a port number or the name of a port."""

import re
from typing import TypeAlias

from probelet.spec.model.meta import Int32

IntOrString: TypeAlias = Int32 | str

# Ten digits hold every int32; strconv accepts more only as leading zeros.
_DECIMAL = re.compile(r"([+-]?)0*([0-9]{1,10})", re.ASCII)
_INT32 = range(-(2**31), 2**31)


def parse_int_or_string(text: str) -> IntOrString:
    """Parses ``text`` as ``intstr.Parse``: a decimal that fits 32 bits becomes a number, anything else stays text."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return text
    number = int(match[1] + match[2])
    return number if number in _INT32 else text
