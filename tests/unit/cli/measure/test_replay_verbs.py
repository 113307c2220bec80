"""``probelet replay`` and ``probelet conformance``: output, exit codes, and the release they follow."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from probelet.config import VERSIONS
from probelet_conformance.conformance import Report
from probelet_conformance.document import SkippedDocument, TraceDocument

from tests.support.paths import TRACES
from tests.unit.cli.conftest import Probelet

NAMED = TRACES / "named"

# A recording of 1.36 in which releases differ -> the releases that reproduce it.
RELEASES_THAT_REPRODUCE = {
    "add_pod_early_return_other_container": {"1.34", "1.35", "1.36"},
    "kubelet_restart_sidecar_startup_seeded": {"1.35", "1.36", "1.37", "1.38"},
    "stop_liveness_spares_sidecars": {"1.34", "1.35", "1.36", "1.37"},
    "terminated_onfailure_exit0": {"1.35", "1.36", "1.37", "1.38"},
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", RELEASES_THAT_REPRODUCE)
def test_the_given_release_sets_the_rules(probelet: Probelet, name: str, version: str, tmp_path: Path) -> None:
    shutil.copy(NAMED / f"{name}.json", tmp_path)
    equal = version in RELEASES_THAT_REPRODUCE[name]
    code, count = (0, 1) if equal else (1, 0)
    replayed = probelet("replay", str(tmp_path), "--kubelet-version", version)
    assert (replayed.code, replayed.err) == (code, "")
    assert replayed.out.splitlines()[-1] == f"{count} of 1 recordings equal in every section"
    examined = probelet("conformance", str(tmp_path), "--kubelet-version", version, "-o", "json")
    assert (examined.code, examined.err) == (code, "")
    report = json.loads(examined.out)
    assert (report["equal"], report["total"], bool(report["different"])) == (count, 1, not equal)


@pytest.mark.parametrize("verb", ["replay", "conformance"])
def test_the_default_release_is_the_recorded_one(probelet: Probelet, verb: str, tmp_path: Path) -> None:
    for name in RELEASES_THAT_REPRODUCE:
        shutil.copy(NAMED / f"{name}.json", tmp_path)
    ended = probelet(verb, str(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert f"{len(RELEASES_THAT_REPRODUCE)} of {len(RELEASES_THAT_REPRODUCE)} recordings equal" in ended.out


def test_a_recording_that_needs_sockets_is_skipped_with_its_reason(probelet: Probelet, tmp_path: Path) -> None:
    for name in ("http_204", "initial_delay_liveness_5"):
        shutil.copy(NAMED / f"{name}.json", tmp_path)
    reason = "its probes need sockets, not only virtual time"
    told = probelet("replay", str(tmp_path))
    assert (told.code, told.out.splitlines()[0]) == (0, f"skipped    http_204: {reason}")
    document = probelet("replay", str(tmp_path), "-o", "json")
    skipped, played = map(json.loads, document.out.splitlines())
    assert msgspec.convert(skipped, SkippedDocument) == skipped
    assert (document.code, skipped) == (0, {"scenario": "http_204", "skipped": reason})
    assert (played["scenario"], "skipped" in played) == ("initial_delay_liveness_5", False)


def test_json_has_the_keys_that_the_reference_explains(probelet: Probelet, tmp_path: Path) -> None:
    shutil.copy(NAMED / "terminated_onfailure_exit0.json", tmp_path)
    found = json.loads(probelet("replay", str(tmp_path), "-o", "json").out)
    assert msgspec.convert(found, TraceDocument) == found
    report = json.loads(probelet("conformance", str(tmp_path), "-o", "json").out)
    assert msgspec.to_builtins(msgspec.convert(report, Report)) == report


@pytest.mark.parametrize("verb", ["replay", "conformance"])
def test_an_unknown_release_is_refused(probelet: Probelet, verb: str) -> None:
    ended = probelet(verb, str(NAMED), "--kubelet-version", "1.33")
    assert (ended.code, ended.out) == (2, "")
    assert 'Invalid value "1.33" for --kubelet-version' in ended.err


@pytest.mark.parametrize(
    ("verb", "name", "text", "message"),
    [
        ("replay", "missing.json", None, "missing.json: cannot be read: No such file or directory"),
        ("replay", "broken.json", "{", "broken.json: not a recording: "),
        ("replay", "other.json", '{"schema": "x"}', "other.json: not a recording: "),
        ("conformance", "", None, "no recording in it"),
        ("conformance", "missing", None, "not a directory"),
    ],
)
def test_a_file_that_is_no_recording_is_one_line(
    probelet: Probelet, verb: str, name: str, text: str | None, message: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    ended = probelet(verb, str(tmp_path / name))
    assert (ended.code, ended.out) == (2, "")
    line, *_ = ended.err.splitlines()
    assert line.startswith(f"probelet {verb}: ")
    assert message in line
