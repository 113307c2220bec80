"""benches/AGENT.md is what its results say."""

import pytest

from benches.agent import page
from benches.report.kept import kept


def test_the_page_equals_what_the_kept_result_renders() -> None:
    report = kept(page.RESULT)
    if report is None:
        pytest.skip("no result is kept; make bench-agent measures")
    assert page.PAGE.read_text() == page.render(report)


def test_a_row_has_its_prober() -> None:
    row = {"prober": "p", "pods": 110, "cpu_percent": 0.5, "rss_mib": 80.0, "runtime_calls_a_second": 1.0}
    report = {"machine": {"cpu": "c"}, "load_before": [0.1], "load_after": [0.25], "rows": [row]}
    assert page.render(report).endswith("| p | 110 | 0.50 | 80.0 | 1.0 |\n\ncpu c; load average 0.1 to 0.2\n")
