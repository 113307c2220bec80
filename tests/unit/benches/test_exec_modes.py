"""The loads and the page of the measurement of exec probes."""

import json
from typing import Any

import pytest
from probelet._rust import Engine

from benches.exec_modes import page
from benches.exec_modes.measure import quantiles
from benches.exec_modes.pods import add, exec_load, rate_of
from benches.exec_modes.realistic import MIX, PERIOD
from benches.report.kept import kept

RATES = [
    {"mode": "cri", "containers": 10, "rate": 10.0, "cpu_ms": 20.5, "prober_cpu_ms": 1.25, "runtime_cpu_ms": 19.25},
    {"mode": "direct", "containers": 10, "rate": 10.0, "cpu_ms": 0.75, "prober_cpu_ms": 0.1, "helper_cpu_ms": 0.65},
    {"mode": "bare loop", "containers": 10, "rate": 10.0, "cpu_ms": 20.0, "prober_cpu_ms": 1.0, "runtime_cpu_ms": 19.0},
]
REPORT: dict[str, Any] = {
    "machine": {"cpu": "c"},
    "containerd": "1.6.20",
    "runtime_idle_cores": 0.01,
    "load_before": [0.1, 0.2, 0.3],
    "load_after": [1.0, 1.1, 1.2],
    "rates": [row | {"p50_ms": 20.0, "p99_ms": 30.0, "failed": 0} for row in RATES],
    "joins": [{"hierarchies": 10, "pause_ms": 100.0, "cpu_ms": 0.2, "p50_ms": 12.0, "p99_ms": 13.0}],
    "at_once": [{"mode": "direct", "at_once": 50, "all_ms": 40.0}],
    "realistic": [{"mode": "probelet, direct", "cores": {"prober": 0.002, "helper": 0.003}}],
}


@pytest.mark.parametrize(("containers", "rate"), [(10, 1), (10, 10), (10, 20), (100, 10), (100, 50), (100, 200)])
def test_a_load_has_its_rate(containers: int, rate: float) -> None:
    load = exec_load([f"c://{number}" for number in range(containers)], rate)
    assert rate_of(load) == pytest.approx(rate)
    engine = Engine(seed=1)
    add(engine, load)
    assert len(json.loads(engine.probe_states())) == sum(probed.probes for probed in load)
    engine.close()


def test_the_usual_node_has_the_shares_of_the_corpus() -> None:
    probes = {handler: 2 * count / PERIOD for handler, count in MIX.items()}
    assert sum(probes.values()) == pytest.approx(29)
    shares = {handler: round(100 * rate / sum(probes.values())) for handler, rate in probes.items()}
    assert shares == {"http": 73, "exec": 18, "tcp": 6, "grpc": 3}


def test_the_p99_of_a_hundred_is_the_longest() -> None:
    assert quantiles([float(number) for number in range(100)]) == {"p50_ms": 50.0, "p99_ms": 99.0, "max_ms": 99.0}


def test_the_page_compares_the_prober_with_the_bare_loop() -> None:
    text = page.render(REPORT)
    assert "1.25 x at 10/s in 10 containers" in text
    assert "| probelet, direct | 2.0 |  | 3.0 | 5.0 |" in text
    assert "load average 0.1 0.2 0.3 to 1.0 1.1 1.2" in text


def test_the_page_equals_what_the_kept_result_renders() -> None:
    report = kept(page.RESULT)
    if report is None:
        pytest.skip("no result is kept; make bench-exec measures")
    assert page.PAGE.read_text() == page.render(report)
