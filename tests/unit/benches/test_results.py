"""The page of results says what was measured and nothing else."""

import json
from typing import Any

import pytest

from benches.reading import Reading
from benches.results import JSON, PAGE, digest, ratio, render


def row(engine: str, cpu: float, workers: int = 1000) -> dict[str, Any]:
    late = {"p50": 0.1, "p99": 0.5, "max": 2.0}
    measured = {"engine": engine, "workers": workers, "cpu_us_per_probe": cpu, "lateness_ms": late}
    return measured | {"probes_per_second": float(workers), "false_failures": 0}


def test_the_ratio_is_of_neighbouring_runs() -> None:
    # The machine was twice as slow in the second round; it was so for both.
    rows = [row("epoll", 40), row("probelet", 60), row("epoll", 80), row("probelet", 120)]
    assert ratio(rows, "probelet", 1000) == pytest.approx(1.5)


def test_a_quantile_is_the_bound_that_was_kept() -> None:
    earlier = Reading(probes=10, failures=0, lateness={0.001: 10, 0.005: 10, float("inf"): 10})
    later = Reading(probes=110, failures=1, lateness={0.001: 60, 0.005: 109, float("inf"): 110})
    between = later - earlier
    assert (between.probes, between.failures) == (100, 1)
    assert between.lateness_ms(0.5) == 1.0
    assert between.lateness_ms(0.99) == 5.0
    assert between.lateness_ms(1.0) == float("inf")


@pytest.mark.skipif(not JSON.exists(), reason="no results are kept; make bench measures")
def test_the_page_is_rendered_and_not_typed() -> None:
    document = json.loads(JSON.read_text())
    assert PAGE.read_text() == render(document)
    assert document["digest"] == digest([*document["rows"], document["idle"]])
