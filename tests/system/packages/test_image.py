"""``make image``: the archive is whole, and a container of it runs on a real containerd with a read-only root."""

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from tests.support.required import missing
from tests.system.containerd.conftest import started_containerd
from tests.system.containerd.machine import Containerd
from tools.image.debian import KEYRING

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

COMPRESSED_BYTES_MAX = 120 << 20

NOT_HERE = (" needs glibc ", "apt-get update failed", "apt-get download failed", "pip could not install")
"""A machine newer than the image's base, or without a mirror of Debian or an index of Python packages."""

EVERYTHING = """
import asyncio, bz2, ctypes, hashlib, lzma, multiprocessing, ssl, uuid, zoneinfo
import aiohttp, grpc, lightkube, msgspec, watchfiles, yaml
import probelet._rust
from probelet.runtime.execs.direct.program import helper_program
print(helper_program(), len(ssl.create_default_context().get_ca_certs()) > 100)
"""

WRITE = """
import os
for path in ("/tmp", "/", "/usr/lib/probelet"):
    try:
        open(os.path.join(path, "written"), "w")
    except OSError as error:
        print(path, error.strerror)
print(os.getuid(), os.getgid())
"""


@pytest.fixture(scope="module")
def archive() -> Path:
    if not KEYRING.exists():
        missing("debian", f"no {KEYRING}; on Ubuntu: apt-get install debian-archive-keyring")
    made = subprocess.run(["make", "--no-print-directory", "image"], cwd=ROOT, capture_output=True, text=True)
    if made.returncode and any(reason in made.stderr for reason in NOT_HERE):
        missing("debian", next(line for line in made.stderr.splitlines() if line.startswith("make image: ")))
    assert made.returncode == 0, made.stdout + made.stderr
    return ROOT / "build/image/probelet.tar"


class Archive:
    """What the image's archive says of itself."""

    def __init__(self, file: Path) -> None:
        with tarfile.open(file) as tar:
            self.files = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
        (entry,) = self.json("index.json")["manifests"]
        self.name: str = entry["annotations"]["io.containerd.image.name"]
        self.manifest = self.json(self.path(entry))
        self.config = self.json(self.path(self.manifest["config"]))

    def json(self, path: str) -> Any:
        return json.loads(self.files[path])

    @staticmethod
    def path(descriptor: dict[str, Any]) -> str:
        return "blobs/" + str(descriptor["digest"]).replace(":", "/")


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def test_every_blob_is_what_its_digest_says_and_the_image_is_small(archive: Path) -> None:
    read = Archive(archive)
    blobs = {name: data for name, data in read.files.items() if name.startswith("blobs/sha256/")}
    assert {name.rpartition("/")[2]: True for name in blobs} == {
        hashlib.sha256(data).hexdigest(): True for data in blobs.values()
    }
    layers = read.manifest["layers"]
    assert [len(read.files[read.path(layer)]) for layer in layers] == [layer["size"] for layer in layers]
    assert sum(layer["size"] for layer in layers) < COMPRESSED_BYTES_MAX
    (docker,) = read.json("manifest.json")
    assert docker["Layers"] == [read.path(layer) for layer in layers]


def test_it_says_its_version_and_names_no_root(archive: Path) -> None:
    read = Archive(archive)
    assert read.name == f"localhost/probelet:{version()}"
    config = read.config["config"]
    assert (config["User"], config["Entrypoint"]) == ("65532:65532", ["/usr/bin/probelet"])
    assert config["Labels"]["org.opencontainers.image.version"] == version()


def test_the_layers_have_no_shell_no_set_uid_file_and_one_time(archive: Path) -> None:
    read = Archive(archive)
    members: dict[str, tarfile.TarInfo] = {}
    for layer in read.manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(read.files[read.path(layer)])) as tar:
            members |= {member.name: member for member in tar}
    programs = {name.rpartition("/")[2] for name in members if re.match(r"(usr/)?s?bin/", name)}
    assert programs == {"probelet", "python3.11"}
    assert [member for member in members.values() if member.mode & 0o6000 or member.uid or member.gid] == []
    assert {member.mtime for member in members.values()} == {0}
    assert not [name for name in members if str(ROOT) in name or name.endswith("/direct_url.json")]


@pytest.fixture(scope="module")
def containerd(archive: Path) -> Iterator[Containerd]:
    for runtime in started_containerd():
        runtime.ctr("images", "import", "--snapshotter", "native", archive)
        yield runtime


def run(containerd: Containerd, *command: str) -> str:
    """The output of a container of the image with a read-only root."""
    flags = ("--rm", "--read-only", "--snapshotter", "native")
    return containerd.ctr("run", *flags, f"localhost/probelet:{version()}", "test-image", *command)


def test_a_container_says_its_version(containerd: Containerd) -> None:
    assert run(containerd, "/usr/bin/probelet", "version").startswith(f"probelet {version()} ")


def test_everything_that_probelet_loads_is_there(containerd: Containerd) -> None:
    python = ("/usr/lib/probelet/bin/python", "-I", "-c")
    assert run(containerd, *python, EVERYTHING) == "/usr/lib/probelet/bin/probelet-enter True\n"


def test_a_container_is_not_root_and_can_write_nothing(containerd: Containerd) -> None:
    lines = run(containerd, "/usr/lib/probelet/bin/python", "-I", "-c", WRITE).splitlines()
    refused = [f"{path} Read-only file system" for path in ("/tmp", "/", "/usr/lib/probelet")]
    assert lines == [*refused, "65532 65532"]


def test_a_base_without_python_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    command = [sys.executable, "-m", "tools.image", "--name", "x", "--base", tmp_path / "base"]
    paths = ["--work", tmp_path / "work", "--output", tmp_path / "image.tar"]
    ended = subprocess.run([*command, *paths], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("make image: ")
    assert "no usr/bin/python3.N; the base of the image must have Python 3.11 or newer" in ended.stderr


def test_an_own_base_takes_the_place_of_the_packages_and_an_equal_base_makes_an_equal_image(
    archive: Path, tmp_path: Path
) -> None:
    (root,) = (ROOT / "build/image/work").glob("root-*")
    base = tmp_path / "base.tar"
    with tarfile.open(base, "w") as tar:
        tar.add(root, ".")
    command = [sys.executable, "-m", "tools.image", "--name", "localhost/probelet:own", "--base", base]
    subprocess.run([*command, "--work", tmp_path / "work", "--output", tmp_path / "image.tar"], cwd=ROOT, check=True)
    own, packaged = Archive(tmp_path / "image.tar"), Archive(archive)
    assert own.name == "localhost/probelet:own"
    assert own.config["rootfs"] == packaged.config["rootfs"]
