from pathlib import Path

import msgspec
import pytest
from probelet.lab.stress.outcome import Cost, Outcome, Spread
from probelet.lab.stress.play import machine, play_virtual
from probelet.lab.stress.report import Document, charts, write
from probelet.lab.stress.scene import Scene

COST = Cost(
    cpu_ms_per_restart=2.5,
    cpu_ms_per_restart_range=(2.5, 2.5),
    runtime_cpu_ms_per_restart=4,
    resident_bytes=2**26,
    resident_bytes_max=2**27,
    start_decision_ms=Spread(1, 9, 12),
    start_ms=Spread(14, 80, 90),
    burst_restarts_per_second=117,
)


def outcomes() -> list[Outcome]:
    virtual = play_virtual(Scene(pods=3), 60)
    real = msgspec.structs.replace(virtual, clock="real", exact=None, cost=COST)
    return [virtual, real]


def test_a_report_has_the_figures_of_every_scene_and_its_charts(tmp_path: Path) -> None:
    document = Document(machine=machine(), outcomes=outcomes())
    written = write(document, tmp_path / "new")
    assert sorted(path.name for path in written) == [
        "lateness.svg",
        "report.md",
        "start-latency.svg",
        "stress.json",
        "writes-real.svg",
        "writes-virtual.svg",
    ]
    page = (tmp_path / "new" / "report.md").read_text()
    assert "| 1/60 pods=3 | 60 | 18 | 18 | yes | 0 |" in page
    assert "| 1/60 pods=3 | 2.50 | 4.00 | 64 (128) | 1.0 / 9.0 | 14.0 / 80.0 | 117 |" in page
    assert "| 1/60 pods=3 | virtual | 15 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 3 | 0 | 3 |" in page
    assert all(f"]({path.name})" in page for path in written if path.suffix == ".svg")
    found = msgspec.json.decode((tmp_path / "new" / "stress.json").read_bytes(), type=Document)
    assert found == document
    assert found.schema == "probelet-stress/1"


def test_without_matplotlib_there_is_a_report_without_charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "probelet.lab.backoff.drawing", None)
    written = write(Document(machine=machine(), outcomes=outcomes()), tmp_path)
    assert [path.name for path in written] == ["report.md", "stress.json"]


def test_a_chart_shows_no_more_scenes_than_it_has_distinct_inks() -> None:
    many = outcomes()[:1] * 20
    (chart,) = charts(many)
    assert len({series.ink for series in chart.series}) == len(chart.series) == 7
