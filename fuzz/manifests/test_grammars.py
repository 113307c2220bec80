"""Compares how we read durations and ports of any spelling with a second implementation of Go's parsers."""

import random
import re

import pytest
from probelet.spec.model.int_or_string import parse_int_or_string
from probelet.spec.text.duration import DurationError, format_duration, parse_duration

from fuzz.manifests.budget import SECONDS, SEED, numbers, replay
from fuzz.manifests.go_duration import go_duration

pytestmark = pytest.mark.timeout(SECONDS * 2 + 30)

# fmt: off
PIECES = [
    "0", "1", "9", "00", "12", "007", "1.5", ".5", "5.", ".", "..", "-", "+", "0.1", "0.000000001",
    "0.9223372036854775808", "9223372036854775807", "9223372036854775808", "922337203685477580.7",
    "99999999999999999999", "2147483647", "2147483648", "4294967296", "ns", "us", "ms", "s", "m", "h", "d",
    "H", "S", "\u00b5s", "\u03bcs", "\u00b5", "e1", "_", "0x", "\u0661", "é", '"', "\\", "http", "web-1",
]
# fmt: on


def text_of(number: int) -> str:
    """The text with this number in the sequence of ``SEED``."""
    chance = random.Random(f"{SEED}:{number}")
    pieces = (chance.choice([*PIECES, " ", "\0", "\n"]) for _ in range(chance.randint(0, 6)))
    return "".join(pieces)


def test_a_duration_is_read_as_go_reads_it() -> None:
    for number in numbers(10_000):
        text = text_of(number)
        try:
            ours: int | str = parse_duration(text)
            assert parse_duration(format_duration(int(ours))) == ours
        except DurationError as error:
            said = str(error)
            assert said.isprintable()
            ours = said.removeprefix("time: ").partition(" duration ")[0].partition(' "')[0].removesuffix(" in")
        assert ours == go_duration(text), f"{replay(number)}\n{text!r}"


def test_a_port_is_read_as_the_api_server_reads_it() -> None:
    for number in numbers(10_000):
        text = text_of(number)
        digits = re.fullmatch("[+-]?[0-9]+", text, re.ASCII)
        expected = int(text) if digits and -(2**31) <= int(text) < 2**31 else text
        assert parse_int_or_string(text) == expected, f"{replay(number)}\n{text!r}"
