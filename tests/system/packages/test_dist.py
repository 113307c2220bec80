"""``make dist``: every file is there, the wheel installs with its helper program, the bills name what it is made of."""

import json
import os
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
from probelet.cli.verbs import VERBS

from tests.support.paths import ROOT
from tests.system.deploy.programs import helm
from tests.system.deploy.rendered import kustomized
from tests.system.packages.release import only, run, version
from tests.unit.deploy.manifests.manifest import CHART
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


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    return only(release, "probelet-*.whl")


def test_every_file_of_a_release_is_there_and_has_its_sum(release: Path, wheel: Path) -> None:
    number = version(release)
    named = f"probelet-{number}"
    assert re.fullmatch(rf"{re.escape(named)}-cp311-abi3-manylinux_\d+_\d+_\w+\.whl", wheel.name)
    parts = ("crates.cdx.json", "crds.yaml", "deploy.tar.gz", "man.tar.gz", "notes.md", "python.cdx.json")
    assert {path.name for path in release.iterdir()} == {
        *("SHA256SUMS", wheel.name, f"{named}.tar.gz", f"probelet_conformance-{number}-py3-none-any.whl"),
        *(f"{named}-{part}" for part in parts),
        *(f"{named}-recordings.tar.gz", f"{named}-image-{machine()}.tar", f"probelet-chart-{number}.tgz"),
    }
    checked = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release).splitlines()
    assert len(checked) == len(list(release.iterdir())) - 1


def test_a_changed_file_does_not_have_its_sum(release: Path, tmp_path: Path) -> None:
    shutil.copytree(release, tmp_path / "release")
    with only(tmp_path / "release", "*-notes.md").open("a") as notes:
        notes.write("\n")
    checked = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path / "release", capture_output=True)
    assert checked.returncode == 1


def machine() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)


def test_the_page_of_installations_lists_every_file(release: Path, wheel: Path) -> None:
    page = (ROOT / "docs/install.md").read_text()
    written = wheel.name.replace(wheel.stem.split("-")[4], "manylinux_X_Y_ARCH")
    names = {path.name for path in release.iterdir()} - {wheel.name} | {written}
    names = {name.replace(version(release), "V").replace(machine(), "ARCH") for name in names}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_the_packed_manifests_render_as_those_of_the_checkout(release: Path, tmp_path: Path) -> None:
    run("tar", "-xf", only(release, "*-deploy.tar.gz"), "-C", tmp_path)
    packed = tmp_path / f"probelet-{version(release)}/deploy/kustomize"
    for folder in ("base", "overlays/enhanced-liveness", "overlays/cert-manager", "overlays/direct-exec"):
        assert kustomized(packed / folder) == kustomized(ROOT / "deploy/kustomize" / folder), folder


def test_helm_renders_the_packed_chart_as_that_of_the_checkout(release: Path) -> None:
    rendered = run(helm(), "template", "probelet", only(release, "probelet-chart-*.tgz"), "--kube-version", "1.36.3")
    assert rendered == run(helm(), "template", "probelet", CHART, "--kube-version", "1.36.3")


def test_the_man_pages_are_one_for_each_verb_and_those_of_the_second_package(release: Path) -> None:
    names = set(run("tar", "-tf", only(release, "*-man.tar.gz")).splitlines())
    verbs = [*(verb.name for verb in VERBS), "conformance", "replay"]
    assert names == {"man1/probelet.1", *(f"man1/probelet-{verb}.1" for verb in verbs)}


def test_the_notes_are_the_section_of_this_version(release: Path) -> None:
    notes = only(release, "*-notes.md").read_text()
    assert notes.startswith(f"# probelet {version(release)}\n\n")
    assert "\n## " not in notes
    assert "### Upgrade from" in notes


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
    document: dict[str, Any] = json.loads(only(release, f"probelet-*-{name}.cdx.json").read_text())
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
