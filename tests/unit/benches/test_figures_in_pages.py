"""Figures that pages repeat are those of the kept results, so that no page contradicts benches/RESULTS.md."""

import math
from collections.abc import Callable

import pytest

from benches.report import results
from benches.report.statistic import median, of
from tests.support.paths import ROOT


def measured(scenario: str, engine: str, *figure: str) -> float:
    kept = results.load("bench")
    if kept is None:
        pytest.skip("no results are kept; make bench measures")
    found = median(of(kept["rows"], scenario, engine), *figure)
    assert found is not None, (scenario, engine, figure)
    return found


def cpu(scenario: str, engine: str) -> str:
    return f"{measured(scenario, engine, 'cpu_us_per_probe'):.0f}"


def readme() -> list[str]:
    late = measured("http-1000", "probelet", "lateness_ms", "p99")
    kubelet_late = measured("http-1000", "kubelet", "lateness_ms", "p99")
    assert measured("http-1000", "probelet", "false_failures") == 0
    return [
        f"a probe costs probelet {cpu('http-1000', 'probelet')} µs of CPU",
        f"kubelet's own prober needs {cpu('http-1000', 'kubelet')} µs",
        f"a raw epoll loop {cpu('http-1000', 'epoll-exact')} µs if it wakes for each probe",
        f"or {cpu('http-1000', 'epoll')} µs if it wakes each millisecond",
        f"less than {math.ceil(late * 10) / 10:g} ms late",
        f"the kubelet's less than {math.ceil(kubelet_late * 10) / 10:g} ms",
    ]


def performance() -> list[str]:
    first, *rest = (cpu(f"density-{workers}", "probelet") for workers in (100, 1000, 10000, 100000))
    low, high = (cpu(f"density-{workers}", "epoll") for workers in (100, 100000))
    return [
        f"{first} µs among 100 workers, then {rest[0]}, {rest[1]} and {rest[2]} µs (the raw loop: {low} and {high})"
    ]


def architecture() -> list[str]:
    share = measured("http-1000", "probelet", "cpu_us_per_probe") / 10
    return [f"1,000 HTTP probes a second take {share:.0f} % of a core"]


@pytest.mark.parametrize(
    ("page", "sentences"),
    [("README.md", readme), ("docs/dev/performance.md", performance), ("docs/dev/architecture.md", architecture)],
)
def test_a_page_has_the_figures_of_the_results(page: str, sentences: Callable[[], list[str]]) -> None:
    text = " ".join((ROOT / page).read_text().split())
    assert [sentence for sentence in sentences() if sentence not in text] == []
