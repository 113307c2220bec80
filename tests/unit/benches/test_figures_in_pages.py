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
    late = measured("http-10000", "probelet", "lateness_ms", "p99")
    made = measured("http-10000", "kubelet", "probes_per_second")
    kubelet_late = measured("http-10000", "kubelet", "lateness_ms", "p99")
    assert measured("http-10000", "probelet", "false_failures") == 0
    return [
        f"less than {math.ceil(late * 10) / 10:g} ms late",
        f"It uses {_core('probelet')} of a core",
        f"makes {made:,.0f} of them, 99 of 100 less than {math.ceil(kubelet_late * 10) / 10:g} ms late",
        f"and uses {_core('kubelet')} of a core",
        f"a probe costs probelet {cpu('http-5000', 'probelet')} µs of CPU",
        f"kubelet's prober needs {cpu('http-5000', 'kubelet')} µs",
        f"a raw epoll loop {cpu('http-5000', 'epoll')} µs if it wakes for each probe",
        f"or {cpu('http-5000', 'epoll-tick')} µs if it wakes each millisecond",
    ]


def performance() -> list[str]:
    first, *rest = (cpu(f"density-{workers}", "probelet") for workers in (100, 1000, 10000, 100000))
    low, high = (cpu(f"density-{workers}", "epoll") for workers in (100, 100000))
    return [
        f"{first} µs among 100 workers, then {rest[0]}, {rest[1]} and {rest[2]} µs (the raw loop: {low} and {high})"
    ]


def architecture() -> list[str]:
    return [f"10,000 HTTP probes a second take {_core('probelet')} of a core"]


def _core(engine: str) -> str:
    """The share of a core that 10,000 HTTP probes a second take."""
    return f"{float(cpu('http-10000', engine)):.0f} %"


@pytest.mark.parametrize(
    ("page", "sentences"),
    [("README.md", readme), ("docs/dev/performance.md", performance), ("docs/dev/architecture.md", architecture)],
)
def test_a_page_has_the_figures_of_the_results(page: str, sentences: Callable[[], list[str]]) -> None:
    text = " ".join((ROOT / page).read_text().split())
    assert [sentence for sentence in sentences() if sentence not in text] == []
