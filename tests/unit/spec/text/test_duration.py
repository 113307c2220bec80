"""Go's durations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.spec.text.duration import DURATION_MAX, DURATION_MIN, HOUR, DurationError, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "nanoseconds", "rendered"),
    [
        ("0", 0, "0s"),
        ("-0", 0, "0s"),
        ("5s", 5_000_000_000, "5s"),
        ("1m30s", 90_000_000_000, "1m30s"),
        ("90s", 90_000_000_000, "1m30s"),
        ("300s", 300_000_000_000, "5m0s"),
        ("1500ms", 1_500_000_000, "1.5s"),
        ("9.999s", 9_999_000_000, "9.999s"),
        ("-1.5h", -5_400_000_000_000, "-1h30m0s"),
        ("+.5s", 500_000_000, "500ms"),
        ("1.s", 1_000_000_000, "1s"),
        ("10ns", 10, "10ns"),
        ("1us", 1_000, "1µs"),
        ("1µs", 1_000, "1µs"),
        ("1\u03bcs", 1_000, "1µs"),
        ("1h15m30.918273645s", 4_530_918_273_645, "1h15m30.918273645s"),
        ("0.3333333333333333333h", 1_200_000_000_000, "20m0s"),
        ("0.9223372036854775807h", 3_320_413_933_267, "55m20.413933267s"),
        ("9223372036854775807ns", DURATION_MAX, "2562047h47m16.854775807s"),
        ("-9223372036854775808ns", DURATION_MIN, "-2562047h47m16.854775808s"),
    ],
)
def test_durations_read_and_render_as_in_go(text: str, nanoseconds: int, rendered: str) -> None:
    assert parse_duration(text) == nanoseconds
    assert format_duration(nanoseconds) == rendered


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("3", 'time: missing unit in duration "3"'),
        ("4", 'time: missing unit in duration "4"'),
        ("-", 'time: invalid duration "-"'),
        (".", 'time: invalid duration "."'),
        ("-.s", 'time: invalid duration "-.s"'),
        ("abc", 'time: invalid duration "abc"'),
        ("1 s", 'time: unknown unit " s" in duration "1 s"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("1m3", 'time: missing unit in duration "1m3"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
        ("99999999999999999999s", 'time: invalid duration "99999999999999999999s"'),
        ("\u0661s", r'time: invalid duration "\xd9\xa1s"'),
        ('1"', r'time: unknown unit "\"" in duration "1\""'),
    ],
)
def test_malformed_durations_raise_gos_message(text: str, message: str) -> None:
    with pytest.raises(DurationError) as caught:
        parse_duration(text)
    assert str(caught.value) == message


@given(st.integers(DURATION_MIN, DURATION_MAX))
def test_a_rendered_duration_parses_back(nanoseconds: int) -> None:
    text = format_duration(nanoseconds)
    assert parse_duration(text) == nanoseconds


@given(st.text(alphabet="0123456789.hmnsuµ+- ", max_size=12))
def test_any_text_is_a_duration_or_an_error(text: str) -> None:
    try:
        value = parse_duration(text)
    except DurationError:
        return
    assert DURATION_MIN <= value <= DURATION_MAX


def test_a_very_long_number_is_refused_at_once() -> None:
    with pytest.raises(DurationError):
        parse_duration("9" * 100_000 + "s")
    assert parse_duration("0" * 100_000 + "1h") == HOUR
