"""Plays beside each other."""

import re
from xml.etree import ElementTree

import pytest
from probelet.lab.picture.chart.compared import Panel, Series, compared

from tests.support.paths import ROOT

TWO = Panel("Ready", [Series("a", [(0, 10), (30, 0), (90, 5)]), Series("<b>", [(0, 10)])])


def test_each_series_is_a_line_of_steps_until_the_end() -> None:
    svg = compared("x & y", [TWO], 120, (60, "rollout"))
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    lines = re.findall(r'class="s(\d)" d="([^"]*)"', svg)
    drawn = [d for _, d in lines if "h28" not in d]
    assert drawn == ["M0 0H180V260H540V130H720", "M0 0H720"]
    assert "x &amp; y" in svg
    assert "&lt;b&gt;" in svg
    assert 'd="M360 0V260"' in svg


def test_points_in_one_place_are_one() -> None:
    many = Panel("Kills", [Series("a", [(at / 100_000, at) for at in range(100_000)])])
    assert len(compared("t", [many], 1_000)) < 6_000


def test_nothing_is_drawn_of_nothing() -> None:
    ElementTree.fromstring(compared("t", [Panel("Empty", [Series("a", [])])], 10))


def test_more_lines_than_a_reader_tells_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 3 series"):
        compared("t", [Panel("p", [Series(str(each), []) for each in range(4)])], 10)


def test_the_example_plays_both_and_draws_them() -> None:
    scope: dict[str, object] = {"__name__": "example"}
    exec((ROOT / "examples/guard/bad_rollout.py").read_text(), scope)
    svg = scope["picture"](20)  # type: ignore[operator]
    ElementTree.fromstring(svg)
    assert "rolled out to 20 pods" in svg


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (159.6, ["0 s", "60 s", "120 s"]),
        (120, ["0 s", "30 s", "60 s", "90 s", "120 s"]),
        (1200, ["0 min", "5 min", "10 min", "15 min", "20 min"]),
        (80_000, ["0 min", "300 min", "600 min", "900 min", "1200 min"]),
    ],
)
def test_the_axis_of_time_has_whole_steps(seconds: float, shown: list[str]) -> None:
    svg = compared("t", [TWO], seconds)
    assert re.findall(r">(\d[\d.]* (?:s|min))</text>", svg) == shown
