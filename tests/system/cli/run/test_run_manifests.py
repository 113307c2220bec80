"""``run`` watches its manifests: new pods start, removed pods end, and a mistake costs its own pod."""

import signal
import urllib.request
from pathlib import Path

import pytest

from tests.system.cli.conftest import Run, Start, manifest, processes_with, wait_for

pytestmark = pytest.mark.e2e


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pods"
    folder.mkdir()
    return folder


def started(marker: str) -> int:
    """The shell of a container, without its child, which has the same command line until it executes its program."""
    return min(wait_for(lambda: processes_with(marker), f"the process of {marker}"))


def gone(marker: str) -> None:
    wait_for(lambda: not processes_with(marker), f"the process of {marker} to go")


def reads(run: Run) -> int:
    return sum(line["message"] == "manifests read again" for line in run.log_lines)


def test_pods_come_and_go_with_their_files(start: Start, folder: Path, marker: str) -> None:
    run = start(str(folder))
    run.line("listening")
    assert run.status() == {}
    (folder / "one.yaml").write_text(manifest("one", f"{marker}-one"))
    started(f"{marker}-one")
    (folder / "two.yaml").write_text(manifest("two", f"{marker}-two"))
    two = started(f"{marker}-two")
    (folder / "one.yaml").write_text(manifest("one", f"{marker}-1new"))
    started(f"{marker}-1new")
    gone(f"{marker}-one")
    (folder / "one.yaml").unlink()
    wait_for(lambda: set(run.status()) == {"two"}, "the pod of the removed file to go")
    gone(f"{marker}-1new")
    assert two in processes_with(f"{marker}-two")


def test_a_mistake_is_reported_and_its_pod_stays_while_others_change(start: Start, folder: Path, marker: str) -> None:
    path = folder / "two.yaml"
    path.write_text(manifest("bad", f"{marker}-bad") + "---" + manifest("good", f"{marker}-good"))
    run = start(str(folder))
    before = started(f"{marker}-bad")
    started(f"{marker}-good")
    run.line("listening")
    mistake = manifest("bad", f"{marker}-new", probe="    livenessProbe: {periodSeconds: x}")
    path.write_text(mistake + "---" + manifest("good", f"{marker}-other"))
    (folder / "third.yaml").write_text(manifest("third", f"{marker}-third"))
    assert "livenessProbe.periodSeconds: Invalid value" in run.line(f"{path}:")["message"]
    assert run.line("these pods stay as they are until their manifests are right")["pods"] == ["default/bad"]
    started(f"{marker}-other")
    started(f"{marker}-third")
    gone(f"{marker}-good")
    assert before in processes_with(f"{marker}-bad")
    # An editor replaces the file.
    fixed = folder / ".two.yaml.swp"
    fixed.write_text(manifest("bad", f"{marker}-new") + "---" + manifest("good", f"{marker}-other"))
    other = started(f"{marker}-other")
    fixed.rename(path)
    started(f"{marker}-new")
    gone(f"{marker}-bad")
    assert other in processes_with(f"{marker}-other")


@pytest.mark.parametrize("rest", ["", "    env: [{name: A, value: b}]\n"])
def test_a_file_that_is_being_written_does_not_end_its_pod(start: Start, folder: Path, marker: str, rest: str) -> None:
    """The written half is either an invalid pod or a valid one."""
    path = folder / "web.yaml"
    path.write_text(manifest("web", f"{marker}-old"))
    run = start(str(folder))
    before = started(f"{marker}-old")
    whole = manifest("web", f"{marker}-new") + rest
    half = whole.index("    env") if rest else len(whole) // 2
    with path.open("w") as file:
        file.write(whole[:half])
        file.flush()
        # The service carries out a later change first.
        (folder / "other.yaml").write_text(manifest("other", f"{marker}-other"))
        started(f"{marker}-other")
        assert before in processes_with(f"{marker}-old")
        assert processes_with(f"{marker}-new") == []
        file.write(whole[half:])
    started(f"{marker}-new")
    gone(f"{marker}-old")
    assert not any(line["level"] == "error" for line in run.log_lines)


def test_a_file_that_is_emptied_does_not_end_its_pod(start: Start, folder: Path, marker: str) -> None:
    path = folder / "web.yaml"
    path.write_text(manifest("web", marker))
    run = start(str(folder))
    before = started(marker)
    path.write_text("")
    run.line("no pod in this file")
    run.line("these pods stay as they are")
    path.write_text("# the same pod\n" + manifest("web", marker))
    wait_for(lambda: reads(run) == 2, "the file to be read again")
    assert before in processes_with(marker)


def test_a_directory_that_vanishes_and_returns(start: Start, folder: Path, tmp_path: Path, marker: str) -> None:
    (folder / "web.yaml").write_text(manifest("web", marker))
    run = start(str(folder))
    started(marker)
    folder.rename(tmp_path / "away")
    run.line("is gone")
    gone(marker)
    assert run.verb("status").returncode == 0
    (tmp_path / "away").rename(folder)
    started(marker)
    # The service watches the directory as before.
    (folder / "web.yaml").unlink()
    gone(marker)


def test_a_directory_that_is_made_anew_is_watched(start: Start, tmp_path: Path, marker: str) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    run = start(str(deep))
    run.line("listening")
    deep.rmdir()
    deep.parent.rmdir()
    run.line("is gone")
    deep.mkdir(parents=True)
    (deep / "web.yaml").write_text(manifest("web", marker))
    started(marker)


def test_the_mounted_volume_of_a_config_map_is_exchanged_at_once(start: Start, folder: Path, marker: str) -> None:
    """The files are links through ``..data``, and ``..data`` links to the newest directory."""
    for version in ("1", "2"):
        (folder / f"..{version}").mkdir()
        (folder / f"..{version}" / "web.yaml").write_text(manifest("web", f"{marker}-{version}"))
    (folder / "..data").symlink_to("..1")
    (folder / "web.yaml").symlink_to("..data/web.yaml")
    start(str(folder))
    started(f"{marker}-1")
    (folder / "..data_tmp").symlink_to("..2")
    (folder / "..data_tmp").rename(folder / "..data")
    started(f"{marker}-2")
    gone(f"{marker}-1")


def test_a_second_pod_of_a_name_in_another_file_is_refused(start: Start, folder: Path, marker: str) -> None:
    (folder / "m.yaml").write_text(manifest("web", f"{marker}-first"))
    run = start(str(folder))
    before = started(f"{marker}-first")
    (folder / "a.yaml").write_text(manifest("web", f"{marker}-second"))
    assert run.line("Duplicate value")["message"] == (
        f'{folder / "a.yaml"}:2: metadata.name: Duplicate value: "default/web": '
        f"already defined at {folder / 'm.yaml'}:2"
    )
    assert before in processes_with(f"{marker}-first")
    (folder / "m.yaml").unlink()
    started(f"{marker}-second")
    gone(f"{marker}-first")


def test_a_mistake_at_the_start_costs_its_pod_until_it_is_mended(start: Start, folder: Path, marker: str) -> None:
    bad = folder / "bad.yaml"
    (folder / "good.yaml").write_text(manifest("good", f"{marker}-good"))
    bad.write_text(manifest("bad", f"{marker}-bad", probe="    livenessProbe: {periodSeconds: x}"))
    (folder / "worse.yaml").write_text("a: [")
    run = start(str(folder))
    good = started(f"{marker}-good")
    assert run.line(f"{bad}:")["level"] == "error"
    assert run.line("manifests read")["mistakes"] == 2
    assert (
        f"error: {bad}:10: spec.containers[0].livenessProbe.periodSeconds: Invalid value" in run.verb("status").stdout
    )
    with urllib.request.urlopen(f"{run.url}/metrics") as page:
        assert b'probelet_manifest_errors{reason="refused"} 1\n' in page.read()
    bad.write_text(manifest("bad", f"{marker}-bad"))
    (folder / "worse.yaml").unlink()
    started(f"{marker}-bad")
    # The pod keeps its version when its manifest gets a mistake again.
    bad.write_text("a: [")
    run.line("these pods stay as they are")
    wait_for(lambda: run.status()["bad"]["manifest_error"], "the pod to say so")
    assert "runs its earlier manifest, the newest has a mistake" in run.verb("status").stdout
    assert good in processes_with(f"{marker}-good")


def test_a_workload_from_standard_input(start: Start, marker: str) -> None:
    pod = manifest("web", marker).replace("metadata: {name: web}", "metadata: {labels: {app: web}}")
    template = "".join(f"    {line}\n" for line in pod.splitlines()[3:])
    workload = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\napiVersion: apps/v1\nkind: Deployment\n"
        f"metadata: {{name: web}}\nspec:\n  replicas: 2\n  template:\n{template}"
    )
    run = start("-", "--replicas", text=workload)
    run.line("listening")
    (read,) = (line for line in run.log_lines if line["message"] == "manifests read")
    assert (read["pods"], read["objects"], read["passed_over"]) == (2, "1 Deployment", "1 Service")

    def containers() -> list[str]:
        return sorted(line["pod"] for line in run.log_lines if line["message"] == "container started")

    wait_for(lambda: len(containers()) >= 2, "a container of each replica")
    run.signal(signal.SIGTERM)
    assert run.ended() == 0
    assert containers() == ["default/web-0", "default/web-1"]
