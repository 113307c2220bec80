"""The wheel by itself, in a folder where nothing of the repository can be found: what it needs, it holds."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT

# The library is there when the tests run; only a change since then is compiled.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

NODE = """
from pathlib import Path
import probelet
from probelet.testing import VirtualNode

node = VirtualNode(Path("examples/web/pod.yaml"))
node.answer("web/web/liveness", "failure")
node.run("5m")
print(len(node.kills) > 0, Path(probelet.__file__).parts[-3])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of a new wheel, as an installer lays them out, and an example beside them."""
    folder = tmp_path_factory.mktemp("elsewhere")
    maturin = [str(Path(sys.executable).with_name("maturin")), "build", "--release", "--quiet", "--out", str(folder)]
    # As `make build` calls it: with another environment everything would be compiled anew.
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    built = subprocess.run(maturin, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    shutil.copytree(ROOT / "examples/web", folder / "examples/web")
    return folder


def python(installed: Path, *arguments: str) -> str:
    """Run the interpreter with the wheel's contents in front of everything else; returns what it said."""
    environment = {**os.environ, "PYTHONPATH": str(installed / "site"), "NO_COLOR": "1"}
    command = [sys.executable, *arguments]
    ended = subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def test_it_says_its_version(installed: Path) -> None:
    assert python(installed, "-m", "probelet", "version").startswith("probelet ")


def test_it_has_what_the_recordings_of_the_handlers_need(installed: Path) -> None:
    cases = installed / "cases"
    cases.mkdir(exist_ok=True)
    # Certificates, HTTP/2, gRPC and plain sockets.
    for name in ("tls", "grpc", "tcp"):
        shutil.copy(ROOT / f"tests/handlers/recorded/{name}.jsonl", cases)
    last = python(installed, "-m", "probelet", "conformance", str(cases)).splitlines()[-1]
    equal, _, total, *_ = last.split()
    assert equal == total


def test_it_plays_a_recording(installed: Path) -> None:
    recording = ROOT / "tests/kubelet/traces/named/liveness_failure_threshold_1.json"
    assert "1 of 1 recordings equal" in python(installed, "-m", "probelet", "replay", str(recording))


def test_it_runs_a_pod_in_its_own_runtime(installed: Path) -> None:
    flags = ["--listen", "127.0.0.1:0", "--state-dir", str(installed / "state"), "--duration", "1s"]
    said = python(installed, "-m", "probelet", "run", "examples/web", *flags)
    assert "container started" in said
    assert "drained" in said


def test_it_has_the_virtual_node_for_tests(installed: Path) -> None:
    assert python(installed, "-c", NODE) == "True site\n"
