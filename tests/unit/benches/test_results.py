"""The page of results shows the measured rows and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from benches.engines import ENGINES
from benches.report import page, results
from benches.report.budget import Budget, PartBudget, lines, read, read_parts
from benches.report.micro import lines as micro_lines
from benches.report.plots import COLOURS, MARKERS
from benches.report.statistic import median, of, ratio


def row(engine: str, cpu: float | None, scenario: str = "http-1000", **more: Any) -> dict[str, Any]:
    late = {"p50": 0.1, "p99": 0.5, "max": 2.0}
    measured = {"scenario": scenario, "engine": engine, "cpu_us_per_probe": cpu, "lateness_ms": late, "limit": None}
    measured |= {
        "probes": 5000,
        "probes_per_second": 1000.0,
        "expected_per_second": 1000.0,
        "false_failures": 0,
        "round": 0,
    }
    return measured | more


def document(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return results.document("bench", ["make", "bench"], {"cpu": "one"}, rows)


def test_a_ratio_compares_runs_of_the_same_round() -> None:
    # The machine was twice as slow in the second round, for both engines.
    rows = [row("epoll", 40), row("probelet", 60), row("epoll", 80, round=1), row("probelet", 120, round=1)]
    rows.append(row("probelet", 9000, round=2))  # the loop did not finish its third round
    assert ratio(rows, "http-1000", "probelet", "epoll") == pytest.approx(1.5)


def test_there_is_no_ratio_without_the_other_engine_or_without_a_probe() -> None:
    assert ratio([row("probelet", 60)], "http-1000", "probelet", "kubelet") is None
    assert ratio([row("probelet", None), row("kubelet", 1)], "http-1000", "probelet", "kubelet") is None


def test_a_median_leaves_out_missing_values() -> None:
    rows = [row("kubelet", 1, lateness_ms=None), row("kubelet", 3), row("kubelet", 9)]
    assert median(of(rows, "http-1000", "kubelet"), "lateness_ms", "p99") == 0.5
    assert median(of(rows, "http-1000", "kubelet"), "bytes_per_worker") is None
    assert median(of(rows, "http-1000", "kubelet"), "cpu_us_per_probe") == 3


def test_a_row_of_the_table_has_both_ratios_and_the_part_of_false_failures() -> None:
    rows = [row("epoll", 40), row("probelet", 50), row("kubelet", 200, false_failures=500)]
    shown = page.cells("http-1000", "kubelet", rows)
    assert shown[:5] == ["1,000", "200.0", "5.00", "1.00", "500 (10.0%)"]
    assert page.cells("http-1000", "probelet", rows)[2:4] == ["1.25", "0.25"]


def test_the_lateness_of_first_bytes_is_shown_where_it_was_measured() -> None:
    later = {"p50": 0.2, "p99": 0.7, "max": 3.0}
    assert page.cells("http-1000", "epoll", [row("epoll", 40)])[5] == "0.10 / 0.50 / 2.00"
    both = page.cells("http-1000", "epoll", [row("epoll", 40, first_byte_lateness_ms=later)])[5]
    assert both == "0.10 / 0.50 / 2.00<br>0.20 / 0.70 / 3.00"


def test_an_engine_that_was_not_run_is_named_with_its_reason() -> None:
    rows = [row("probelet", 50, "http-10000"), {"scenario": "http-10000", "engine": "asyncio", "skipped": "5,000"}]
    text = page.render({"bench": document(rows)}, [])
    assert "asyncio + aiohttp: not run, it was saturated at 5,000 workers." in text
    assert "| asyncio" not in text


def test_a_missed_budget_is_shown_with_its_reason() -> None:
    rows = [row("epoll", 40), row("probelet", 60)]
    missed = Budget("cheap", "http-1000", "cpu/epoll", 1.25, note="the kernel's part")
    kept = Budget("not late", "http-1000", "lateness_ms.p99", 5)
    unknown = Budget("beside the kubelet", "http-1000", "cpu/kubelet", 0.3)
    assert lines(rows, [missed, kept, unknown]) == [
        "| budget | measured | |",
        "|---|---|---|",
        "| cheap | 1.50 x | **not reached** |",
        "| not late | 0.50 ms | reached |",
        "",
        "- cheap: the kernel's part",
        "",
    ]


def test_budgets_that_are_missed_for_one_reason_share_its_note(tmp_path: Path) -> None:
    file = tmp_path / "budgets.toml"
    table = '[[budget]]\ntext = "%s"\nscenario = "http-1000"\nfigure = "cpu/epoll"\nmax = 1\nnote = "%s"\n'
    given = [("first", "kernel"), ("second", "kernel"), ("third", "a text of its own")]
    file.write_text('[notes]\nkernel = "why"\n' + "".join(table % each for each in given))
    notes = lines([row("epoll", 40), row("probelet", 60)], read(file))[6:]
    assert notes == ["- first; second: why", "- third: a text of its own", ""]


def test_a_burst_is_compared_with_the_burst_of_the_raw_loop() -> None:
    rows = [row("epoll", 1, "burst-5000", burst_ms=200.0), row("probelet", 1, "burst-5000", burst_ms=220.0)]
    assert Budget("", "burst-5000", "burst/epoll", 1.2).value(rows) == pytest.approx(1.1)
    assert "probelet: from the first to the last of a period 220 ms." in page.render({"bench": document(rows)}, [])


def test_the_share_of_missing_probes_can_have_a_budget() -> None:
    rows = [row("probelet", 1, probes_per_second=900.0)]
    assert Budget("", "http-1000", "shortfall", 0.01).value(rows) == pytest.approx(0.1)


def test_a_count_of_probes_is_shown_with_the_count_that_it_is_a_part_of() -> None:
    rows = [row("probelet", 1, probes_per_second=900.0), row("probelet", 1, probes_per_second=960.0, false_failures=3)]
    budgets = [
        Budget("no false failure", "http-1000", "false_failures", 0),
        Budget("every probe is made", "http-1000", "shortfall", 0.01),
    ]
    assert lines(rows, budgets)[2:4] == [
        "| no false failure | 3 of 10,000 probes | **not reached** |",
        "| every probe is made | 930 of 1,000 probes a second | **not reached** |",
    ]


def test_every_budget_is_about_a_scenario_that_make_bench_measures() -> None:
    from benches.measure import scenario

    names = {one.name for one in scenario.read()["bench"].scenarios}
    assert {budget.scenario for budget in read()} <= names


def test_every_engine_has_a_colour_and_a_marker_of_its_own() -> None:
    assert COLOURS.keys() == MARKERS.keys() == ENGINES.keys()
    assert len(set(COLOURS.values())) == len(set(MARKERS.values())) == len(ENGINES)


@pytest.mark.parametrize("suite", ["bench", "full"])
def test_kept_results_have_the_digest_of_their_rows(suite: str) -> None:
    kept = results.load(suite)
    if kept is None:
        pytest.skip("no results are kept; make measures")
    assert kept["digest"] == results.digest(kept["rows"])


def test_the_page_equals_what_the_kept_results_render() -> None:
    kept = {suite: results.load(suite) for suite in ("bench", "full")}
    if not any(kept.values()):
        pytest.skip("no results are kept; make bench measures")
    assert page.render(kept, micro_lines()) == page.PAGE.read_text()


def test_a_part_can_have_a_budget() -> None:
    rows = [{"name": "60,000 runs", "nanoseconds": 9e6}, {"name": "worker", "bytes": 300}]
    budgets = [PartBudget("a run", "60,000 runs", 200, per=60_000), PartBudget("a worker", "worker", 256, note="why")]
    missing = PartBudget("not measured", "nothing", 1)
    compared = PartBudget("compared", "worker", 2, over="worker")
    assert lines(rows, [compared])[2:] == ["| compared | 1 x | reached |", ""]
    assert lines(rows, [PartBudget("without a base", "worker", 2, over="nothing")]) == []
    assert lines(rows, [*budgets, missing]) == [
        "| budget | measured | |",
        "|---|---|---|",
        "| a run | 150 ns | reached |",
        "| a worker | 300 bytes | **not reached** |",
        "",
        "- a worker: why",
        "",
    ]
    assert len(read_parts()) == 8
