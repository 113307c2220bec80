"""Metric families: what Prometheus reads back is what was given."""

import pytest
from probelet.base.exposition.family import counter, gauge, page
from probelet.base.exposition.histogram import Histogram


def test_a_family_has_its_head_and_a_line_for_each_series() -> None:
    kills = [(("liveness", "pod"), 3), (("startup", "probe"), 1)]
    shown = page(
        counter("kills_total", "Kills.", kills, "reason", "grace"), gauge("up", "Up.", 1), gauge("age", "A.", "0.500")
    )
    assert shown.decode().splitlines() == [
        "# HELP kills_total Kills.",
        "# TYPE kills_total counter",
        'kills_total{reason="liveness",grace="pod"} 3',
        'kills_total{reason="startup",grace="probe"} 1',
        "# HELP up Up.",
        "# TYPE up gauge",
        "up 1",
        "# HELP age A.",
        "# TYPE age gauge",
        "age 0.500",
    ]


def test_a_family_without_series_still_has_its_head() -> None:
    assert (
        page(counter("kills_total", "Kills.", [], "reason"))
        == b"# HELP kills_total Kills.\n# TYPE kills_total counter\n"
    )


def test_no_value_of_a_label_ends_its_quotes_or_its_line() -> None:
    _, _, line = gauge("workload", "W.", [('a"b\\c\nd', 1)], "name")
    assert line == r'workload{name="a\"b\\c\nd"} 1'
    times = Histogram("seconds", "S.", (1,), "path")
    times.observe(0.5, '"')
    assert r'seconds_bucket{path="\"",le="1"} 1' in list(times.render())


def test_a_series_has_a_value_for_each_label() -> None:
    with pytest.raises(TypeError, match="arguments"):
        list(counter("kills_total", "Kills.", [("liveness", 1)], "reason", "grace"))


def test_a_histogram_adds_up_its_buckets_by_label() -> None:
    times = Histogram("seconds", "S.", (0.1, 1), "result")
    for value, result in ((0.05, "ok"), (0.5, "ok"), (2, "ok"), (0.1, "error")):
        times.observe(value, result)
    assert list(times.render())[2:] == [
        'seconds_bucket{result="error",le="0.1"} 1',
        'seconds_bucket{result="error",le="1"} 1',
        'seconds_bucket{result="error",le="+Inf"} 1',
        'seconds_sum{result="error"} 0.1',
        'seconds_count{result="error"} 1',
        'seconds_bucket{result="ok",le="0.1"} 1',
        'seconds_bucket{result="ok",le="1"} 2',
        'seconds_bucket{result="ok",le="+Inf"} 3',
        'seconds_sum{result="ok"} 2.55',
        'seconds_count{result="ok"} 3',
    ]


def test_a_histogram_without_a_value_is_shown() -> None:
    assert list(Histogram("seconds", "S.", (1,)).render())[2:] == [
        'seconds_bucket{le="1"} 0',
        'seconds_bucket{le="+Inf"} 0',
        "seconds_sum 0",
        "seconds_count 0",
    ]
