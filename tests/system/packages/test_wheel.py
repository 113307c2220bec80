"""The sdist and the wheels are complete: they work without the repository."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator
from email import message_from_string
from importlib.metadata import Distribution, distribution
from pathlib import Path
from subprocess import PIPE
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.example import run_an_example
from tests.support.paths import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

NODE = """
from pathlib import Path
import probelet
from probelet.testing import VirtualNode

node = VirtualNode(Path("examples/web/pod.yaml"))
node.answer("web/web/liveness", "failure")
node.run("5m")
print(len(node.kills) > 0, Path(probelet.__file__).parts[-3])
"""


def carry_out(*command: str | Path, cwd: Path) -> str:
    """Run a command; returns its output."""
    # As `make build` calls it: with another environment or target folder cargo would compile everything anew.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    cargo = {"VIRTUAL_ENV": sys.prefix, "CARGO_TARGET_DIR": str(ROOT / "target"), "PATH": path}
    environment = {**os.environ, **cargo, "NO_COLOR": "1"}
    ended = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def pip(*arguments: str | Path, cwd: Path) -> None:
    carry_out(sys.executable, "-m", "pip", *arguments, "--no-index", "--no-deps", "--no-cache-dir", "--quiet", cwd=cwd)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    carry_out("maturin", "sdist", "--out", folder, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path) -> Path:
    """A wheel built from the sdist alone. Cargo reuses compiled crates only if the sdist has all their sources."""
    pip("wheel", "--no-build-isolation", "--wheel-dir", sdist.parent, sdist, cwd=sdist.parent)
    (built,) = sdist.parent.glob("*.whl")
    return built


def needed(requirements: list[Requirement]) -> Iterator[Distribution]:
    """The installed distributions that the requirements lead to, without extras."""
    names = [requirement.name for requirement in requirements if applies(requirement)]
    seen: set[str] = set()
    while names:
        if (name := canonicalize_name(names.pop())) not in seen:
            seen.add(name)
            found = distribution(name)
            yield found
            names += [one.name for one in map(Requirement, found.requires or []) if applies(one)]


def applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """A folder with a new environment in `env`: the wheel and its declared dependencies; an example is beside it."""
    folder = wheel.parent
    venv.create(folder / "env", symlinks=True)
    (site,) = folder.glob("env/lib/python*/site-packages")
    # Two distributions may share a folder, as lightkube and lightkube-models do.
    tops: dict[str, Path] = {}
    for dependency in needed(requirements_of(wheel)):
        for top in {file.parts[0] for file in dependency.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            tops[top] = Path(str(dependency.locate_file(top)))
    for top, path in tops.items():
        (site / top).symlink_to(path)
    pip("--python", folder / "env/bin/python", "install", wheel, cwd=folder)
    shutil.copytree(ROOT / "examples/web", folder / "examples/web")
    return folder


def requirements_of(wheel: Path) -> list[Requirement]:
    with ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        headers = message_from_string(archive.read(metadata).decode())
    return [Requirement(text) for text in headers.get_all("Requires-Dist", [])]


def probelet(installed: Path, *arguments: str) -> str:
    return carry_out("env/bin/probelet", *arguments, cwd=installed)


def test_archive_wheel_and_command_have_the_version_of_the_workspace(sdist: Path, wheel: Path, installed: Path) -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert sdist.name == f"probelet-{version[1]}.tar.gz"
    assert wheel.name.startswith(f"probelet-{version[1]}-cp311-abi3-")
    assert probelet(installed, "version").startswith(f"probelet {version[1]} ")


@pytest.fixture(scope="module")
def with_conformance(installed: Path) -> Path:
    """The same environment with the wheel of ``conformance/``, which is built like the other, and what it needs."""
    pip("wheel", "--no-build-isolation", "--wheel-dir", installed / "conformance", ROOT / "conformance", cwd=installed)
    (built,) = (installed / "conformance").glob("*.whl")
    (site,) = installed.glob("env/lib/python*/site-packages")
    (site / "hpack").symlink_to(str(distribution("hpack").locate_file("hpack")))
    pip("--python", installed / "env/bin/python", "install", built, cwd=installed)
    return installed


def test_probelet_alone_names_the_package_with_the_verbs_that_it_lacks(
    sdist: Path, wheel: Path, installed: Path
) -> None:
    ended = subprocess.run(["env/bin/probelet", "replay", "x.json"], cwd=installed, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "probelet-conformance" in ended.stderr
    assert "replay" not in probelet(installed, "--help")
    with ZipFile(wheel) as archive, tarfile.open(sdist) as sources:
        names = [*archive.namelist(), *sources.getnames()]
    assert [name for name in names if "conformance" in name or "replay" in name] == []
    assert "hpack" not in {requirement.name for requirement in requirements_of(wheel)}


def test_with_conformance_it_plays_recordings_of_every_handler(with_conformance: Path) -> None:
    cases = with_conformance / "cases"
    cases.mkdir(exist_ok=True)
    # Certificates, HTTP/2, gRPC and plain sockets.
    for name in ("tls", "grpc", "tcp"):
        shutil.copy(ROOT / f"tests/handlers/recorded/{name}.jsonl", cases)
    last = probelet(with_conformance, "conformance", str(cases)).splitlines()[-1]
    equal, _, total, *_ = last.split()
    assert equal == total


def test_with_conformance_it_plays_a_recording(with_conformance: Path) -> None:
    recording = ROOT / "tests/kubelet/traces/named/liveness_failure_threshold_1.json"
    assert "1 of 1 recordings equal" in probelet(with_conformance, "replay", str(recording))


def test_the_wheel_runs_a_pod_in_its_own_runtime(installed: Path) -> None:
    run_an_example("env/bin/probelet", installed, installed / "state")


def test_the_wheel_has_the_virtual_node_for_tests(installed: Path) -> None:
    assert carry_out("env/bin/python", "-c", NODE, cwd=installed) == "True site-packages\n"


def test_its_benchmark_says_which_program_the_wheel_does_not_have(installed: Path) -> None:
    environment = {**os.environ, "PATH": os.defpath}
    ended = subprocess.run(
        ["env/bin/probelet", "bench", "http"], cwd=installed, env=environment, stderr=PIPE, text=True
    )
    assert ended.returncode == 3
    assert ended.stderr.startswith("probelet bench: the program probelet-target is missing: ")
