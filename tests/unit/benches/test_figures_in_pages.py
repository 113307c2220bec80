"""Figures that pages repeat are those of the kept results, so that no page contradicts benches/RESULTS.md."""

import json
from collections.abc import Callable

import pytest

from benches.exec_modes.page import RESULT
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
    kubelet, cri, direct = (usual_node(mode) for mode in ("kubelet's prober", "probelet, cri", "probelet, direct"))
    assert measured("http-1000", "probelet", "false_failures") == 0
    return [
        f"{kubelet['all']} thousandths of a core with the kubelet's prober, {cri['all']} with probelet, and "
        f"{direct['all']} with probelet and `execMode: direct`",
        f"the prober itself needs {kubelet['prober']}, {cri['prober']} and {direct['prober']}",
        f"an HTTP probe costs probelet {cpu('http-1000', 'probelet')} µs of CPU at 1,000 a second, "
        f"{cpu('http-1000', 'kubelet')} µs the kubelet's prober, and {cpu('http-1000', 'epoll')} µs a bare epoll loop",
    ]


def usual_node(mode: str) -> dict[str, str]:
    """Thousandths of a core: the prober's own, and those of all that takes part."""
    if not RESULT.exists():
        pytest.skip("no results are kept; make bench-exec measures")
    (row,) = (each for each in json.loads(RESULT.read_text())["realistic"] if each["mode"] == mode)
    cores = row["cores"]
    return {"prober": f"{1000 * cores['prober']:.0f}", "all": f"{1000 * sum(cores.values()):.0f}"}


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
