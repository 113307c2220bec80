"""The files of a release, made once for every test of this folder, in the folder of pytest's temporary files."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.required import missing
from tools.image.debian import KEYRING

NOT_HERE = (" needs glibc ", "apt-get update failed", "apt-get download failed", "pip could not install")
"""A machine newer than the image's base, or without a mirror of Debian or an index of Python packages."""


def run(*command: str | Path, cwd: Path = ROOT, seconds: float | None = None) -> str:
    """The output of a program that succeeds."""
    ended = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=seconds)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def make_release(folder: Path) -> Path:
    """Runs `make dist`, unless PROBELET_DIST names a folder where it has run: the tests then try the very files that
    are published. They are skipped where its tools or the packages of the image cannot be had."""
    if made_before := os.environ.get("PROBELET_DIST"):
        return Path(made_before).absolute()
    tools = subprocess.run(["make", "build/stamps/dist-tools"], cwd=ROOT, capture_output=True, text=True)
    if tools.returncode:
        missing("pypi", f"auditwheel and cyclonedx-bom could not be installed: {tools.stderr.strip().splitlines()[-1]}")
    if not KEYRING.exists():
        missing("debian", f"the image is of Debian's packages, and there is no {KEYRING}")
    command = ["make", "--no-print-directory", "dist", f"DIST={folder}"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if made.returncode and any(reason in made.stderr for reason in NOT_HERE):
        missing("debian", next(line for line in made.stderr.splitlines() if line.startswith("make image: ")))
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def only(folder: Path, pattern: str) -> Path:
    """The one file of the release that has such a name."""
    found = sorted(folder.glob(pattern))
    assert len(found) == 1, f"{pattern}: {[path.name for path in found]}"
    return found[0]


def version(release: Path) -> str:
    return only(release, "probelet-*.whl").name.split("-")[1]


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_release(tmp_path_factory.mktemp("dist"))
