"""Observations in a recording: the incident of the documentation, in which ``web`` was killed after timeouts and ``db``
was not ready for some seconds."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from probelet.cli.app import run_command
from probelet.lab.recording import Change, Recording
from probelet.lab.whatif.outages import outages
from probelet.lint.observed.calm import Part, calm
from probelet.lint.observed.container import ObservedContainer
from probelet.lint.observed.read import ObservedError, read_observed

from tests.support.paths import ROOT

INCIDENT = ROOT / "examples" / "whatif" / "incident.segment"


@pytest.fixture(scope="module")
def rows() -> dict[str, ObservedContainer]:
    found = [row for row in read_observed(INCIDENT) if isinstance(row, ObservedContainer)]
    return {f"{row.namespace}/{row.pod}/{row.name}": row for row in found}


def test_each_container_of_the_recording_is_one_row(rows: dict[str, ObservedContainer]) -> None:
    assert set(rows) == {"default/web/app", "default/db/postgres"}
    assert [round(row.span or 0) for row in rows.values()] == [50, 50]


def test_runs_and_starts_are_those_of_the_recording(rows: dict[str, ObservedContainer]) -> None:
    web = rows["default/web/app"]
    assert [run.killed for run in web.lives] == [True, False]
    assert (web.restarts, web.kills_in_row, web.is_waiting, web.age) == (1, 1, False, None)
    assert [round(start.took, 1) for start in web.starts] == [0.9, 2.0]
    assert web.waits == (0.0,)


def test_attempts_become_counts_and_percentiles_with_those_that_failed(rows: dict[str, ObservedContainer]) -> None:
    liveness = rows["default/web/app"].probes["liveness"]
    assert (liveness.runs, liveness.failures, liveness.errors, liveness.starved) == (25, 5, 0, 0)
    # The timeout of a second is in the percentile: a kubelet's histogram would not have it.
    assert liveness.slow == pytest.approx(1.0, abs=0.01)
    assert liveness.mean == pytest.approx(0.19, abs=0.01)
    assert 0 < (liveness.lateness or 0) < 0.1


def test_outages_have_a_cause(rows: dict[str, ObservedContainer]) -> None:
    (outage,) = rows["default/db/postgres"].probes["readiness"].outages
    assert outage.cause == "status"
    assert outage.end is not None
    assert outage.end - outage.begin == pytest.approx(8, abs=0.1)
    (other,) = rows["default/web/app"].probes["readiness"].outages
    assert (other.cause, other.end) == ("header_timeout", None)


def test_the_calm_threshold_is_the_smallest_one() -> None:
    recording = Recording(INCIDENT)
    (stretch,) = recording.stretches
    number, pod = next((number, pod) for number, pod in enumerate(stretch.pods) if pod.name == "db")
    numbers = pod.containers[0].probes["readiness"]

    def count(threshold: int) -> int:
        change = Change("postgres", "readiness", msgspec.structs.replace(numbers, failure_threshold=threshold))
        played = recording.play(0, number, [change], "healthy")
        return sum(len(outages(played.results, life, stretch.to_us)) for life in pod.lives)

    least = calm(recording, [Part(0, number, stretch, pod)], "postgres", pod.lives)
    assert least is not None
    assert (count(least), count(least - 1)) == (0, 1)


def test_a_directory_of_segments_is_a_recording(tmp_path: Path, rows: dict[str, ObservedContainer]) -> None:
    shutil.copy(INCIDENT, tmp_path / "00000001.segment")
    assert read_observed(tmp_path) == list(rows.values())


def test_a_damaged_recording_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.segment"
    path.write_bytes(b"probelet-f9\nxxxx")
    with pytest.raises(ObservedError, match=r"x\.segment") as refused:
        read_observed(path)
    assert "\n" not in str(refused.value)


def test_an_empty_directory_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(ObservedError):
        read_observed(tmp_path)


def test_the_command_line_reads_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, image: 'app:1', "
        "livenessProbe: {tcpSocket: {port: 80}, periodSeconds: 2}}]}}"
    )
    run_command(["lint", "web.yaml", "--observed", str(INCIDENT), "-o", "json"])
    said = capsys.readouterr()
    found = {row["rule"]: row["message"] for row in json.loads(said.out)["findings"]}
    assert said.err == ""
    assert "99 of 100 attempts (25 were seen) end within 1 s, and the timeout is 1 s" in found["PO101"]


def test_a_recording_of_other_pods_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: shop}, spec: {containers: [{name: app, image: 'app:1'}]}}"
    )
    assert run_command(["lint", "shop.yaml", "--observed", str(INCIDENT)]) == 0
    message = "probelet lint: --observed: nothing that was seen belongs to a workload of these manifests\n"
    assert capsys.readouterr().err == message
