"""The pods that ``run`` starts with, and the folders that it watches."""

from pathlib import Path

import pytest
from probelet.config import Gates
from probelet.errors import ManifestError
from probelet.node.source.watch import Manifests, only, watched_folders
from structlog.testing import capture_logs
from watchfiles import Change

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    command: [sleep, "1"]
"""


def manifests(*paths: Path) -> Manifests:
    return Manifests(list(paths), Gates(), runtime="process")


def test_run_starts_with_the_pods_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(POD)
    assert [found.pod.full_name for found in manifests(tmp_path).first()] == ["default/web"]


def test_a_mistake_costs_its_own_pod_and_the_strict_start_all(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(POD)
    (tmp_path / "bad.yaml").write_text(POD.replace("command", "livenessProbe: {periodSeconds: -1}\n    command"))
    paths = (tmp_path / "web.yaml", tmp_path / "bad.yaml", tmp_path / "missing.yaml")
    found = manifests(*paths)
    assert [pod.pod.full_name for pod in found.first()] == ["default/web"]
    assert found.mistakes.total == 3
    with pytest.raises(ManifestError) as error:
        manifests(*paths).first(strict=True)
    lines = str(error.value).splitlines()
    assert all(str(tmp_path) in line for line in lines)
    assert "periodSeconds" in "".join(lines)
    assert any(line.endswith("missing.yaml: cannot be read: No such file or directory") for line in lines)


SERVICE = "apiVersion: v1\nkind: Service\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "{path}:1: not YAML: did not find expected node content, while parsing a flow node"),
        ("", "{path}: warning: no pod in this file"),
        (SERVICE, "no pod in the manifests (passed over: 1 Service)"),
    ],
)
def test_a_start_without_a_pod_and_without_a_directory_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(text)
    with pytest.raises(ManifestError) as error:
        manifests(path).first()
    assert str(error.value) == message.format(path=path)
    assert manifests(path).first(idle=True) == []
    assert manifests(tmp_path).first() == []


def test_a_start_logs_in_one_line_what_it_took_and_passed_over(tmp_path: Path) -> None:
    texts = [SERVICE.replace("Service", f"K{number}").replace("v1", "x/v1") for number in range(9)]
    (tmp_path / "all.yaml").write_text("---\n".join([POD, *texts, SERVICE, SERVICE]))
    with capture_logs() as logs:
        found = manifests(tmp_path)
        found.first()
        found.announce()
    (line,) = logs
    assert line["event"] == "manifests read"
    assert (line["pods"], line["objects"], line["mistakes"]) == (1, "1 Pod", 0)
    assert line["passed_over"].startswith("2 Service, 1 K0.x, ")
    assert line["passed_over"].endswith(", 2 of other kinds")


def test_a_warning_does_not_keep_a_pod_out(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(POD.replace("command", "image: nginx\n    command"))
    assert len(manifests(path).first()) == 1


def test_run_watches_the_folders_of_its_files_and_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pods").mkdir()
    (tmp_path / "web.yaml").touch()
    assert set(watched_folders([Path("web.yaml"), Path("pods")])) == {tmp_path, tmp_path / "pods"}


def test_a_missing_path_is_watched_through_its_nearest_existing_folder(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "pods"
    assert set(watched_folders([deep])) == {tmp_path}
    deep.mkdir(parents=True)
    before = watched_folders([deep])
    assert set(before) == {deep, deep.parent}
    # A new directory of that name needs a new watch. Keep the old one, so that the new one gets another inode.
    deep.rename(tmp_path / "moved")
    deep.mkdir()
    assert watched_folders([deep]) != before


@pytest.mark.parametrize(
    ("changed", "concerns"),
    [
        ("web.yaml", True),
        ("pods/new.yaml", True),
        # A mounted ConfigMap swaps this link.
        ("pods/..data", True),
        # The directory itself, and the folder that holds it.
        ("pods", True),
        (".", True),
        ("other.yaml", False),
        ("pods/deep/er.yaml", False),
    ],
)
def test_only_changes_of_named_files_and_directories_wake_run(
    changed: str, concerns: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert only([Path("web.yaml"), Path("pods")])(Change.modified, str(tmp_path / changed)) is concerns
