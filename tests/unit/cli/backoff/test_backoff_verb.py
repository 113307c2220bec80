import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Probelet


def document(probelet: Probelet, line: str) -> dict[str, Any]:
    ended = probelet("backoff", *line.split(), "-o", "json")
    assert (ended.code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_a_table_in_json_has_exact_seconds(probelet: Probelet) -> None:
    found = document(probelet, "table --initial 250ms --max 1s --restarts 5")
    assert found["schema"] == "probelet-backoff/1"
    assert found["restarts"] == [
        {"n": 1, "at_seconds": 0, "delay_seconds": 0},
        {"n": 2, "at_seconds": 0.25, "delay_seconds": 0.25},
        {"n": 3, "at_seconds": 0.75, "delay_seconds": 0.5},
        {"n": 4, "at_seconds": 1.75, "delay_seconds": 1},
        {"n": 5, "at_seconds": 2.75, "delay_seconds": 1},
    ]


def test_the_default_table_is_todays_curve(probelet: Probelet) -> None:
    found = document(probelet, "table --restarts 30")
    assert [row["at_seconds"] for row in found["restarts"]][:7] == [0, 10, 30, 70, 150, 310, 610]
    assert (len(found["restarts"]), found["restarts"][-1]["at_seconds"]) == (30, 7510)


def test_flags_shape_the_curve_and_the_life(probelet: Probelet) -> None:
    def at(line: str) -> list[float]:
        return [row["at_seconds"] for row in document(probelet, f"table --restarts 4 {line}")["restarts"]]

    assert at("--no-first-free") == [10, 30, 70, 150]
    assert at("--run 5s") == [5, 20, 45, 90]
    assert at("--factor 3") == [0, 10, 40, 130]
    assert at("--run 20s --reset 10s") == [20, 40, 60, 80]
    assert at("--initial 5m --max 1s") == [0, 1, 2, 3]
    assert at("--run 1s..9s --seed 1") == at("--run 1s..9s --seed 1") != at("--run 1s..9s --seed 2")


def test_with_the_kubelets_scheduler_a_table_shows_lateness(probelet: Probelet) -> None:
    rows = document(probelet, "table --scheduler kubelet --restarts 8")["restarts"]
    assert [row["delay_seconds"] for row in rows] == [0, 10, 20, 40, 80, 160, 300, 300]
    assert max(row["late_seconds"] for row in rows) > 0
    assert "late" in probelet("backoff", "table", "--scheduler", "kubelet").out.splitlines()[0]


def test_a_table_for_a_person(probelet: Probelet) -> None:
    ended = probelet("backoff", "table", "--initial", "1s", "--max", "60s", "--restarts", "3")
    assert ended.out == "restart  at  delay\n1        0s     0s\n2        1s     1s\n3        3s     2s\n"


def test_curves_side_by_side_with_their_excess_over_today(probelet: Probelet) -> None:
    found = document(probelet, "compare 10/300 1/60 1/1 --no-first-free")
    assert [curve["name"] for curve in found["curves"]] == ["10s/300s", "1s/60s", "1s/1s"]
    excess = [{row["seconds"]: row["excess"] for row in curve["counts"]} for curve in found["curves"]]
    assert [each[300] for each in excess] == [0, 5, 296]
    message = probelet("backoff", "compare").out
    assert "10s/300s  1s/60s" in message
    assert "10 (+5)" in message


def test_a_curve_that_ends_early_leaves_its_column_empty(probelet: Probelet) -> None:
    ended = probelet("backoff", "compare", "10/300", "--restarts", "1")
    assert ended.out.splitlines()[2].split() == ["1", "0s"]


def test_the_load_of_a_full_node(probelet: Probelet) -> None:
    found = document(probelet, "load 1/60 --pods 110 --window 5m --no-first-free")
    assert (found["restarts"], found["excess_restarts"]) == (110 * 9, 110 * 5)
    assert (found["requests"], found["excess_requests"]) == (110 * 9 * 5, 2750)
    assert found["restarts_per_second"]["peak"] == 110
    assert found["today"] == {"restarts": 440, "requests": 2200}


def test_successful_containers_do_not_restart_under_on_failure(probelet: Probelet) -> None:
    found = document(probelet, "load 1/60 --pods 10 --containers 2 --succeed 0.25 --policy OnFailure")
    assert found["restarts"] == 15 * 10
    assert "25% of the containers exit with 0" in probelet("backoff", "load", "--succeed", "0.25").out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("table --initial 5", '--initial: "5" is not a duration; want for example 10s, 1m30s or 500ms'),
        ("table --max 0s", "backoff: max 0s: must be between 1ms and 8760h"),
        ("table --initial 0s", "backoff: initial 0s: must be between 1ms and 8760h"),
        ("table --reset 500ms", "reset 500ms: must be at least 1s"),
        ("table --restarts 0", '"0" is not a number between 1 and 10,000,000'),
        ("table --max 8761h", "max 8761h0m0s: must be between 1ms and 8760h"),
        ("table --run 8761h", '"8761h" is longer than 8760h'),
        ("table --run 5s..1s", '"5s..1s" ends before it begins'),
        ("table --seed -1", '"-1" is not a number between 0 and 2^64 - 1'),
        ("table --factor 0", "factor 0: must be between 1 and 1000"),
        ("compare 1", 'CURVE: "1" is not a curve; want INITIAL/MAX, for example 10s/5m or 1/60'),
        ("load 1/60 --window 0s", '"0s" is not a duration above zero'),
        ("load 1/60 --window 1000h", "--window: 1000h0m0s: must be at most 277h46m40s, 1,000,000 slots of 1s"),
        ("tabel", 'there is no question "tabel"; did you mean "table"?'),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(probelet: Probelet, line: str, message: str) -> None:
    ended = probelet("backoff", *line.split())
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.splitlines()[0].startswith("probelet backoff")


def test_two_mistakes_are_two_lines(probelet: Probelet) -> None:
    ended = probelet("backoff", "load", "1/60", "--succeed", "2", "--requests", "-1")
    assert [line for line in ended.err.splitlines() if line.startswith("probelet backoff")] == [
        "probelet backoff: --succeed: 2: must be between 0 and 1",
        "probelet backoff: --requests: -1: must be between 0 and 1000",
    ]


def test_each_claim_of_the_kep_is_printed_with_its_verdict(probelet: Probelet) -> None:
    found = document(probelet, "kep4603")
    assert found["schema"] == "probelet-kep4603/1"
    eleventh = next(claim for claim in found["claims"] if claim["claim"] == "11")
    assert (eleventh["published"], eleventh["found"], eleventh["verdict"]) == (310, 299, "does not hold")
    message = probelet("backoff", "kep4603").out
    assert max(map(len, message.splitlines())) <= 80
    for claim in found["claims"]:
        assert f"\n{claim['claim'].ljust(5)}" in f"\n{message}"
    assert "holds if the window is 310 s" in " ".join(message.split())
    verdicts = Counter(claim["verdict"] for claim in found["claims"])
    assert f"{verdicts.total()} claims: {verdicts['holds']} hold, {verdicts['holds if']} hold if" in message
    assert f"{verdicts['does not hold']} do not hold" in message


def test_charts_are_written_by_name(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("backoff", "plot", "todayvsrapid", "--out", str(tmp_path / "new"), "--format", "both")
    assert (ended.code, ended.err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["todayvsrapid.png", "todayvsrapid.svg"]
    assert ended.out.split() == [str(tmp_path / "new" / f"todayvsrapid.{suffix}") for suffix in ("svg", "png")]


def test_an_unknown_chart_or_an_unusable_folder_is_one_line(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("backoff", "plot", "todayvsnever", "--out", str(tmp_path))
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert 'CHART: "todayvsnever": the charts are restarts-vs-elapsed-all,' in ended.err
    (tmp_path / "file").write_text("")
    ended = probelet("backoff", "plot", "todayvsrapid", "--out", str(tmp_path / "file"))
    assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_without_matplotlib_plot_names_the_package(probelet: Probelet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "probelet.lab.backoff.drawing", None)
    ended = probelet("backoff", "plot")
    assert ended.code == 3
    assert ended.err.endswith("  try: pip install 'probelet[plots]'\n")
