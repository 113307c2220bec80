"""Port numbers and port names in one field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.spec.model.int_or_string import parse_int_or_string


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("80", 80),
        ("-1", -1),
        ("+8", 8),
        ("0080", 80),
        ("2147483647", 2147483647),
        ("2147483648", "2147483648"),
        ("-2147483648", -2147483648),
        ("http", "http"),
        ("", ""),
        ("0x50", "0x50"),
        ("8_0", "8_0"),
        (" 80", " 80"),
        ("\u0668\u0660", "\u0668\u0660"),
        ("9" * 100_000, "9" * 100_000),
    ],
)
def test_a_decimal_of_32_bits_is_a_number(text: str, value: int | str) -> None:
    assert parse_int_or_string(text) == value


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_number_reads_back(number: int) -> None:
    assert parse_int_or_string(str(number)) == number
