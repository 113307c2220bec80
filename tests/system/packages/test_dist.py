"""``make dist``: the wheel installs by itself with its helper program, and the bills name what it is made of."""

import json
import re
import shutil
import stat
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.support.paths import ROOT
from tests.support.required import missing
from tools.dist.wheel import PROGRAM, DistError, finish, needs_loader
from tools.install.requirements import runtime_lock

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]

TOOLS = ROOT / "build" / "dist-tools" / "bin"

VALIDATE = """
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

for path in sys.argv[1:]:
    text = open(path).read()
    version = json.loads(text)["specVersion"]
    error = JsonStrictValidator(SchemaVersion["V" + version.replace(".", "_")]).validate_str(text)
    print(version, error)
"""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    ended = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    tools = subprocess.run(["make", "build/stamps/dist-tools"], cwd=ROOT, capture_output=True, text=True)
    if tools.returncode:
        missing("pypi", f"auditwheel and cyclonedx-bom could not be installed: {tools.stderr.strip().splitlines()[-1]}")
    run("make", "--no-print-directory", "dist", f"DIST={folder}")
    return folder


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    (found,) = release.glob("probelet-*.whl")
    return found


def test_there_are_a_wheel_for_every_python_and_an_sdist_each_with_its_sum(release: Path, wheel: Path) -> None:
    names = {path.name for path in release.iterdir()}
    version = wheel.name.split("-")[1]
    bills = {f"probelet-{version}-crates.cdx.json", f"probelet-{version}-python.cdx.json"}
    conformance = f"probelet_conformance-{version}-py3-none-any.whl"
    assert names == {"SHA256SUMS", wheel.name, conformance, f"probelet-{version}.tar.gz", *bills}
    assert re.fullmatch(rf"probelet-{re.escape(version)}-cp311-abi3-manylinux_\d+_\d+_\w+\.whl", wheel.name)
    checked = run("sha256sum", "--check", "SHA256SUMS", cwd=release).splitlines()
    assert len(checked) == len(names) - 1


def test_auditwheel_finds_no_library_that_the_platform_does_not_have(wheel: Path) -> None:
    said = " ".join(run(TOOLS / "auditwheel", "show", wheel).split())
    assert f'is consistent with the following platform tag: "{wheel.stem.rpartition("-")[2]}"' in said


def test_pip_puts_the_helper_beside_the_interpreter_where_probelet_looks(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env/bin/python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps")
    run(*pip, wheel)
    found = run(
        python,
        "-c",
        "from probelet.runtime.execs.direct.program import helper_program; print(helper_program())",
        cwd=tmp_path,
    )
    program = tmp_path / "env/bin" / PROGRAM
    assert found == f"{program}\n"
    assert program.stat().st_mode & stat.S_IXUSR
    assert program.read_bytes() == (ROOT / "build" / PROGRAM).read_bytes()
    # pip checks the hashes of RECORD only when it uninstalls; it then removes the helper too.
    run(sys.executable, "-m", "pip", "--python", python, "uninstall", "--quiet", "--yes", "probelet")
    assert not program.exists()


def bill(release: Path, name: str) -> dict[str, Any]:
    (file,) = release.glob(f"probelet-*-{name}.cdx.json")
    document: dict[str, Any] = json.loads(file.read_text())
    return document


def test_both_bills_are_valid_and_name_no_folder_of_this_machine(release: Path) -> None:
    files = sorted(release.glob("*.cdx.json"))
    lines = run(TOOLS / "python", "-c", VALIDATE, *files).splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines] == ["None", "None"]
    assert [file.name for file in files if str(ROOT) in file.read_text() or "/tmp/" in file.read_text()] == []


def test_the_bill_of_packages_has_the_pins_of_the_lock_and_their_licences(release: Path) -> None:
    document = bill(release, "python")
    version = ".".join(map(str, sys.version_info[:3]))
    pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", runtime_lock(ROOT, version), re.MULTILINE))
    components = {one["name"].lower().replace("_", "-"): one for one in document["components"]}
    # The project itself is what the bill is about.
    components.pop("probelet", None)
    assert {name: one["version"] for name, one in components.items()} == pins
    # The metadata of protobuf name its licence in words, and the generator takes SPDX expressions alone.
    assert [name for name, one in components.items() if not one.get("licenses")] == ["protobuf"]
    assert document["metadata"]["component"]["name"] == "probelet"
    assert document["metadata"]["component"]["version"]


def test_the_bill_of_crates_has_what_cargo_links_into_the_extension(release: Path) -> None:
    tree = ("cargo", "tree", "--package", "probelet-bindings", "--edges", "normal", "--prefix", "none", "--locked")
    linked = {tuple(line.split()[:2]) for line in run(*tree, "--offline", "--format", "{p}").splitlines()}
    listed = {(one["name"], f"v{one['version']}") for one in bill(release, "crates")["components"]}
    assert {pair for pair in linked if pair[0] != "probelet-bindings"} <= listed


def test_the_wheel_is_the_same_whenever_it_is_made(wheel: Path, tmp_path: Path) -> None:
    (built,) = (ROOT / "build" / "wheel").glob("*.whl")
    again = finish(built, ROOT / "build" / PROGRAM, ROOT, tmp_path, 0)
    assert again.read_bytes() == wheel.read_bytes()
    with ZipFile(again) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_helper_that_needs_a_loader_is_refused(wheel: Path, tmp_path: Path) -> None:
    dynamic = Path(shutil.which("env") or "/usr/bin/env")
    assert needs_loader(dynamic.read_bytes())
    with pytest.raises(DistError, match="needs a dynamic loader"):
        finish(wheel, dynamic, ROOT, tmp_path, 0)
    with pytest.raises(DistError, match="no program of a 64-bit"):
        finish(wheel, ROOT / "Makefile", ROOT, tmp_path, 0)
    assert list(tmp_path.iterdir()) == []
