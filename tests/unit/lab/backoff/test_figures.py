"""The charts of KEP-4603: published points, model points, and the files drawn from them."""

from itertools import islice
from pathlib import Path

import pytest
from probelet.lab.backoff.chart import Chart
from probelet.lab.backoff.figures import charts, crossing

from tests.support.paths import ROOT
from tests.unit.lab.backoff.naive import SECOND, delays

CHARTS = {chart.name: chart for chart in charts()}
DOCS = ROOT / "docs" / "plots"


def ages(initial: float, longest: float) -> list[float]:
    at, found = 118.0, [110.0, 118.0]
    for delay in islice(delays(round(initial * SECOND), round(longest * SECOND)), 10):
        at += 10 + delay / SECOND
        found.append(at)
    return found


MODELS = {
    "today, 10 s to 300 s": ages(10, 300),
    "new default, 1 s to 60 s": ages(1, 60),
    "least max per node, 1 s": ages(1, 1),
    "flat 5 s after a success": ages(5, 5),
    "Rapid, 250 ms to 60 s": ages(0.25, 60),
    "1 s to 300 s": ages(1, 300),
}


def test_every_chart_of_the_kep_exists() -> None:
    assert list(CHARTS) == [
        "restarts-vs-elapsed-all",
        "restarts-vs-elapsed-new-default",
        "restarts-vs-elapsed-minimum-per-node",
        "crashloopbackoff-succeedingcontainer",
        "todayvsrapid",
        "flatratesuccessvstoday",
        "successvsrapidwhenfailed",
        "todayvs1sbackoff",
        "differentinitialvalues",
        "initialvaluesandnumberofrestarts",
        "initialvaluesandmaxonnumberofrestarts",
        "controlfornumberofrestarts",
        "node-restarts",
    ]


@pytest.mark.parametrize("chart", [chart for chart in CHARTS.values() if chart.kind == "lines"], ids=lambda c: c.name)
def test_pod_ages_are_those_of_the_naive_model(chart: Chart) -> None:
    assert [list(series.model) for series in chart.series] == [MODELS[series.name] for series in chart.series]


def test_published_points_that_the_model_contradicts_are_drawn_apart() -> None:
    wrong = {(chart.name, s.name) for chart in CHARTS.values() for s in chart.series if s.published and not s.confirmed}
    assert {pair for pair in wrong if pair[1] != "today, 10 s to 300 s"} == {
        ("todayvs1sbackoff", "1 s to 300 s"),
        *(("differentinitialvalues", f"from {initial}") for initial in ("10s", "1s", "250ms", "25ms")),
        ("initialvaluesandnumberofrestarts", "25ms/300s"),
        *(("initialvaluesandmaxonnumberofrestarts", curve) for curve in ("10s/30s", "1s/60s", "1s/30s")),
    }
    assert ages(10, 300)[-1] == 2028, "the measured curve ends at 2215"


def test_bars_are_the_windows_of_the_model() -> None:
    bars = {s.name: list(s.model) for chart in CHARTS.values() if chart.kind == "bars" for s in chart.series}
    assert bars == {
        "10s/300s": [1, 1, 1, 1, 1],
        "1s/300s": [3, 1, 2, 1, 1],
        "250ms/300s": [5, 1, 2, 1, 1],
        "25ms/300s": [8, 2, 1, 1, 1],
        "10s/60s": [1, 1, 1, 1, 3],
        "10s/30s": [1, 1, 1, 3, 5],
        "1s/60s": [3, 1, 2, 1, 3],
        "1s/30s": [3, 1, 2, 2, 6],
    }


def test_the_catch_up_delay_brings_the_sixth_restart_to_ten_minutes() -> None:
    _, catch_up = CHARTS["controlfornumberofrestarts"].series
    assert list(catch_up.model) == list(catch_up.published) == [1, 2, 4, 8, 16, 569, 300, 300]


def test_rapid_and_flat_cross_between_the_ninth_and_the_tenth_start() -> None:
    assert crossing(ages(0.25, 60), ages(5, 5)) == 10
    assert crossing([1, 2], [1, 2]) == 3


# Two tests import the drawing: matplotlib takes half a second, and every process of a run collects this module.
def test_each_curve_of_a_chart_has_its_own_colour_marker_and_hatch() -> None:
    from probelet.lab.backoff.drawing import INKS

    assert len({colour for colour, _, _ in INKS.values()}) == len(INKS)
    assert len({marker for _, marker, _ in INKS.values()}) == len(INKS)
    for chart in CHARTS.values():
        assert len({series.ink for series in chart.series}) == len(chart.series)


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_curves_that_differ_by_a_factor_of_ten_have_a_logarithmic_axis(chart: Chart) -> None:
    values = [y for series in chart.series for y in (*series.published, *series.model) if y]
    assert chart.log or max(values) <= 10 * min(values)


@pytest.mark.parametrize("name", ["successvsrapidwhenfailed", "initialvaluesandnumberofrestarts"])
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_same_chart_is_the_same_file(name: str, suffix: str, tmp_path: Path) -> None:
    from probelet.lab.backoff.drawing import save

    one, other = tmp_path / f"one.{suffix}", tmp_path / f"other.{suffix}"
    save(CHARTS[name], one)
    save(CHARTS[name], other)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_the_drawing_in_the_documentation_shows_these_numbers(chart: Chart) -> None:
    drawn = (DOCS / f"{chart.name}.svg").read_text()
    assert f"data {chart.digest}" in drawn, "run `make plots`"
    assert all(label in drawn for label in (chart.title, chart.x_label, chart.y_label))
    assert all(series.name in drawn for series in chart.series)
