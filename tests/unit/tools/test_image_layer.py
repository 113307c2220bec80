"""A layer of the image depends on the files alone: not on the machine, its user, its umask or the time."""

import io
import os
import socket
import tarfile
from pathlib import Path

import pytest

from tools.image.environment import require_glibc
from tools.image.layer import Layer, tar_of, unpack
from tools.image.root import ImageError, Root


def fill(folder: Path, *, mode: int, reverse: bool) -> Path:
    names = ["b/one", "a/two", "a/three"]
    for name in reversed(names) if reverse else names:
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(name)
        path.chmod(mode)
        os.utime(path, (mode, mode))
    (folder / "tmp").mkdir()
    (folder / "link").symlink_to("a")
    return folder


def members(tar: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        return {member.name: member for member in archive}


def test_equal_files_are_an_equal_layer(tmp_path: Path) -> None:
    one = fill(tmp_path / "one", mode=0o4750, reverse=False)
    other = fill(tmp_path / "other", mode=0o700, reverse=True)
    assert tar_of(one, 7) == tar_of(other, 7)
    assert Layer.write(one, tmp_path / "1.tar.gz", 7).digest == Layer.write(other, tmp_path / "2.tar.gz", 7).digest


def test_every_file_is_roots_with_a_plain_mode_and_the_given_time(tmp_path: Path) -> None:
    found = members(tar_of(fill(tmp_path, mode=0o6777, reverse=False), 7))
    assert list(found) == ["a", "a/three", "a/two", "b", "b/one", "link", "tmp"]
    assert {member.mtime for member in found.values()} == {7}
    assert {(member.uid, member.gid) for member in found.values()} == {(0, 0)}
    assert {name: member.mode for name, member in found.items() if not member.issym()} == {
        "a": 0o755,
        "a/two": 0o755,
        "a/three": 0o755,
        "b": 0o755,
        "b/one": 0o755,
        "tmp": 0o1777,
    }
    assert found["link"].linkname == "a"


def test_a_layer_is_read_again_and_one_that_is_not_whole_is_not(tmp_path: Path) -> None:
    layer = Layer.write(fill(tmp_path / "root", mode=0o644, reverse=False), tmp_path / "layer.tar.gz", 0)
    assert Layer.read(layer.file) == layer
    assert layer.bytes == layer.file.stat().st_size
    layer.file.with_suffix(".json").unlink()
    assert Layer.read(layer.file) is None


def test_what_was_packed_is_unpacked(tmp_path: Path) -> None:
    root = fill(tmp_path / "root", mode=0o644, reverse=False)
    layer = Layer.write(root, tmp_path / "layer.tar.gz", 0)
    unpack(layer.file, tmp_path / "again")
    assert tar_of(tmp_path / "again", 0) == tar_of(root, 0)


def test_a_folder_as_a_base_is_taken_without_its_sockets(tmp_path: Path) -> None:
    root = fill(tmp_path / "root", mode=0o644, reverse=False)
    before = tar_of(root, 0)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "s"))
        unpack(root, tmp_path / "again")
    assert tar_of(tmp_path / "again", 0) == before


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no usr/bin/python3.N"),
        (["python3", "python3.11-config"], "no usr/bin/python3.N"),
        (["python3.9", "python3.10"], "python3.10 is the newest Python of the base"),
    ],
)
def test_a_base_without_a_python_that_will_do_is_refused(names: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    for name in names:
        (tmp_path / "usr/bin" / name).touch()
    with pytest.raises(ImageError, match=message):
        _ = Root(tmp_path).python


def test_the_newest_python_of_a_base_is_taken(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    for name in ("python3.9", "python3.11", "python3.13"):
        (tmp_path / "usr/bin" / name).touch()
    assert Root(tmp_path).python == Path("/usr/bin/python3.13")


class Glibc(Root):
    """A base that says which C library it has."""

    def run_python(self, *arguments: str | Path, path: str = "") -> str:
        return "glibc 2.36\n"


@pytest.mark.parametrize("platform", ["manylinux_2_36_x86_64", "manylinux_2_9_x86_64", "linux_x86_64"])
def test_a_wheel_for_the_glibc_of_the_base_or_an_older_one_is_taken(platform: str, tmp_path: Path) -> None:
    require_glibc(f"probelet-1-cp311-abi3-{platform}.whl", Glibc(tmp_path))


def test_a_wheel_for_a_newer_glibc_is_refused_with_both_versions(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"needs glibc 2\.39, and the base has 2\.36"):
        require_glibc("probelet-1-cp311-abi3-manylinux_2_39_x86_64.whl", Glibc(tmp_path))


def test_a_base_without_glibc_is_refused(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/python3.12").touch()
    with pytest.raises(ImageError, match="must be a glibc system"):
        Root(tmp_path).run_python("-c", "pass")
