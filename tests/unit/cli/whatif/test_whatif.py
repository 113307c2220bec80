"""The text of ``probelet whatif``, its document and its errors."""

import json
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.unit.cli.conftest import Probelet

INCIDENT = str(ROOT / "examples" / "whatif" / "incident.segment")


def test_it_says_what_would_have_been_in_80_columns(probelet: Probelet) -> None:
    ended = probelet("whatif", INCIDENT, "--set", "liveness.failureThreshold=5")
    assert (ended.code, ended.err) == (0, "")
    assert "Restarts by probes: 1 really; 1 would not have come then." in ended.out
    assert "Unknown after that: had it gone on failing, killed 4.0 s later." in " ".join(ended.out.split())
    assert max(map(len, ended.out.splitlines())) <= 80
    assert len(ended.out.splitlines()) <= 12


def test_without_changes_it_gives_what_happened(probelet: Probelet) -> None:
    ended = probelet("whatif", INCIDENT)
    assert (ended.code, ended.err) == (0, "")
    assert "Take care" not in ended.out


def test_the_document(probelet: Probelet) -> None:
    ended = probelet("whatif", INCIDENT, "--set", "readiness.failureThreshold=1", "-o", "json")
    document = json.loads(ended.out)
    assert (document["schema"], document["recording"]["node"]) == ("probelet-whatif/1", "node-a")
    assert document["check"]["reproduced"]


def test_manifests_and_a_window(probelet: Probelet) -> None:
    new = str(ROOT / "examples" / "whatif" / "web-new.yaml")
    ended = probelet("whatif", INCIDENT, "--change", new, "--since", "1s")
    assert ended.code == 0
    assert "Restarts by probes: 0 really." in ended.out


SHARED = str(ROOT / "examples" / "whatif" / "shared.segment")


def test_it_says_which_kills_would_have_waited(probelet: Probelet) -> None:
    manifests = str(ROOT / "examples" / "hold-kills")
    ended = probelet("whatif", SHARED, "--hold-kills", "shared", "--change", manifests)
    assert (ended.code, ended.err) == (0, "")
    said = " ".join(ended.out.split())
    assert "Incidents: 1; with holdKills: shared a kill waits 300 s at most." in said
    assert "to the recording's end: shared target 127.0.0.1:5432: 4 of 4 pods that ask 127.0.0.1:5432 fail" in said
    assert "its kill would have waited for the end of the incident (shared target 127.0.0.1:5432)" in said
    assert "nobody knows what their probes ask" not in said
    assert max(map(len, ended.out.splitlines())) <= 80


def test_without_manifests_it_says_what_a_recording_lacks(probelet: Probelet) -> None:
    ended = probelet("whatif", SHARED, "--hold-kills", "shared", "--hold-kills-for", "90s")
    said = " ".join(ended.out.split())
    assert (ended.code, ended.err) == (0, "")
    assert "with holdKills: shared a kill waits 90 s at most." in said
    assert "Of 5 pods nobody knows what their probes ask, and their workload is taken from their name" in said


def cut(folder: Path, length: int) -> str:
    path = folder / "cut.segment"
    path.write_bytes(Path(INCIDENT).read_bytes()[:length])
    return str(path)


def test_a_recording_that_was_cut_counts_up_to_there_and_says_so(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("whatif", cut(tmp_path, 2_000))
    assert ended.code == 0
    said = " ".join(ended.out.split())
    assert "Cut by a kill: " in said
    assert "it ends in the middle of a block" in said


@pytest.mark.parametrize("flipped", [14, 40, 700, 1_500])
def test_a_flipped_byte_is_one_line_with_the_place(probelet: Probelet, tmp_path: Path, flipped: int) -> None:
    data = bytearray(Path(INCIDENT).read_bytes())
    data[flipped] ^= 1
    path = tmp_path / "flipped.segment"
    path.write_bytes(data)
    ended = probelet("whatif", str(path))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert ended.err.startswith(f"probelet whatif: {path}: byte ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ("--set", "liveness.failureThreshold=0"),
            "--set liveness.failureThreshold=0: failureThreshold of a liveness ",
        ),
        (("--hold-kills-for", "5m"), "--hold-kills-for 5m: needs --hold-kills"),
        (("--hold-kills", "shared", "--hold-kills-for", "0s"), "--hold-kills-for 0s: must be above 0"),
        (("--hold-kills", "shared", "--hold-kills-for", "long"), "--hold-kills-for: "),
        (("--since", "1h", "--until", "2h"), "--since 1h is not before --until 2h"),
        (("--since", "-1h"), '--since: "-1h" is no time; want '),
        (("--since", "yesterday"), '--since: "yesterday" is no time; want a time such as 2026-11-22T14:02:11Z, or '),
    ],
)
def test_a_bad_option_is_one_line(probelet: Probelet, arguments: tuple[str, ...], error: str) -> None:
    ended = probelet("whatif", INCIDENT, *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert ended.err.startswith(f"probelet whatif: {error}")


def test_a_recording_that_is_not_there_is_one_line(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("whatif", str(tmp_path / "none"))
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert "none: it cannot be read: No such file or directory" in ended.err
    ended = probelet("whatif", str(tmp_path))
    assert "no segment of a flight recorder is in this directory" in ended.err


def test_an_empty_recording_is_one_line(probelet: Probelet, tmp_path: Path) -> None:
    empty = cut(tmp_path, 0)
    ended = probelet("whatif", empty)
    assert (ended.code, ended.out, ended.err) == (2, "", f"probelet whatif: {empty}: nothing is recorded in it\n")


def test_a_setting_that_is_in_force_changes_nothing_and_says_so(probelet: Probelet) -> None:
    ended = probelet("whatif", INCIDENT, "--set", "web/app.liveness.failureThreshold=3")
    warning = "probelet whatif: warning: no probe of the recording changes; everything is played as it was\n"
    assert (ended.code, ended.err) == (0, warning)
    assert ended.out == probelet("whatif", INCIDENT).out


def test_a_manifest_with_other_containers_is_refused(probelet: Probelet, tmp_path: Path) -> None:
    new = tmp_path / "web.yaml"
    new.write_text((ROOT / "examples" / "web" / "pod.yaml").read_text())
    ended = probelet("whatif", INCIDENT, "--change", str(new))
    assert (ended.code, ended.out) == (2, "")
    why = "default/web has no container of its manifest: the manifest has web, the recording app"
    assert ended.err == f"probelet whatif: --change: {why}\n"


def test_a_state_directory_stands_for_its_recording(probelet: Probelet, tmp_path: Path) -> None:
    recorder = tmp_path / "flight-recorder"
    recorder.mkdir()
    (recorder / "1.segment").write_bytes(Path(INCIDENT).read_bytes())
    within, of_state = probelet("whatif", str(recorder)), probelet("whatif", str(tmp_path))
    assert (of_state.code, of_state.out) == (within.code, within.out)
