"""A machine that has Python and nothing else installs a release from its files, without a network, and the release
passes its own conformance."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.required import missing
from tests.system.packages.bare_root import BareRoot, make_root
from tests.system.packages.release import only, version

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

RECORDINGS = 2_000
"""Fewer than are kept, so that an empty folder does not pass."""

PLAYED_MAX = 3

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: none
      command: [python3, -m, http.server, "8080", --bind, $(POD_IP)]
      env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
      readinessProbe: {httpGet: {port: 8080}, periodSeconds: 1}
"""

RUN = """\
probelet run /files/pod.yaml --listen 127.0.0.1:0 --state-dir /run/probelet >/files/log 2>&1 &
node=$!
probelet status --wait web=ready --timeout 120s --state-dir /run/probelet >/dev/null 2>&1
probelet status --state-dir /run/probelet -o json
kill $node
wait $node
"""
"""The timeout is for a busy machine; a pod is ready after a second."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareRoot]:
    folder = tmp_path_factory.mktemp("bare") / "root"
    yield make_root(folder)
    # Hundreds of megabytes, which pytest would keep.
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def machine(release: Path, root: BareRoot) -> BareRoot:
    """The root with the release in /opt/probelet, installed from its files and the wheels of its dependencies."""
    python = root.run("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    wheels = [only(release, "probelet-*.whl"), only(release, "probelet_conformance-*.whl")]
    target = ["--python-version", python, "--only-binary", ":all:", "--dest", str(root.files / "wheels")]
    beside = ["--find-links", str(release), *map(str, wheels)]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    fetched = subprocess.run([*pip, *target, *beside], capture_output=True, text=True)
    if fetched.returncode:
        missing("pypi", f"the wheels of the dependencies: {fetched.stderr.strip().splitlines()[-1]}")
    for file in (*wheels, only(release, "*-recordings.tar.gz"), release / "SHA256SUMS"):
        shutil.copy(file, root.files)
    root.run("python3", "-m", "venv", "/opt/probelet")
    names = [f"/files/{wheel.name}" for wheel in wheels]
    root.run("/opt/probelet/bin/pip", "install", "--quiet", "--no-index", "--find-links", "/files/wheels", *names)
    return root


def test_nothing_of_this_checkout_is_on_the_machine(machine: BareRoot) -> None:
    programs = "cargo gcc git make maturin"
    found = machine.run("python3", "-c", f"import shutil; print([*filter(shutil.which, '{programs}'.split())])")
    assert found == "[]\n"
    assert machine.run("python3", "-c", f"import os; print(os.path.exists({str(ROOT)!r}))") == "False\n"


def test_the_files_have_their_sums_there_too(machine: BareRoot) -> None:
    said = machine.run("sh", "-c", "cd /files && sha256sum --check --ignore-missing SHA256SUMS")
    assert [line.rpartition(": ")[2] for line in said.splitlines()] == ["OK"] * 3


def test_it_says_its_version(machine: BareRoot, release: Path) -> None:
    assert machine.run("probelet", "version").startswith(f"probelet {version(release)} (")


def test_it_runs_a_pod_and_its_probe(machine: BareRoot) -> None:
    (machine.files / "pod.yaml").write_text(POD)
    (machine.files / "run.sh").write_text(RUN)
    said = machine.run("sh", "/files/run.sh", codes=(0, 1, 2, 3))
    log = (machine.files / "log").read_text()
    assert said.startswith("{"), said + log
    assert [pod["ready"] for pod in json.loads(said)["pods"]] == [True], log
    assert "drained" in log


def test_it_passes_its_own_conformance(machine: BareRoot, release: Path) -> None:
    machine.run("tar", "-xf", f"/files/probelet-{version(release)}-recordings.tar.gz", "-C", "/files")
    differ: set[str] | None = None
    # Cases with a timeout of a second may differ on a busy machine, and then not each time.
    for _ in range(PLAYED_MAX):
        report = conformance(machine, f"/files/probelet-{version(release)}-recordings")
        names = {one["name"] for one in report["different"]}
        differ = names if differ is None else differ & names
        if not differ:
            break
    assert differ == set(), report["different"]
    assert report["refused"] == []
    assert report["total"] > RECORDINGS


def conformance(machine: BareRoot, folder: str) -> Any:
    return json.loads(machine.run("probelet", "conformance", folder, "-o", "json", codes=(0, 1)))


def test_a_recording_of_something_else_does_not_pass(machine: BareRoot) -> None:
    (changed := machine.files / "changed").mkdir()
    lines = (ROOT / "tests/handlers/recorded/status.jsonl").read_text().splitlines()
    (line,) = [line for line in lines if json.loads(line)["name"] == "status_404"]
    (changed / "status.jsonl").write_text(line.replace("statuscode: 404", "statuscode: 405"))
    report = conformance(machine, "/files/changed")
    assert [(one["name"], one["section"]) for one in report["different"]] == [("status_404", "text")]


def test_nothing_stays_mounted(machine: BareRoot) -> None:
    machine.run("true")
    assert str(machine.folder) not in Path("/proc/self/mounts").read_text()
