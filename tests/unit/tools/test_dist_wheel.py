"""The wheel of a release: what `finish` adds to maturin's, and takes away from it."""

import base64
import csv
import hashlib
import json
import struct
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.dist.__main__ import sums
from tools.dist.wheel import DistError, finish, needs_loader

NAME = "probelet-1-cp311-abi3-linux_x86_64.whl"
BILL = "probelet-1.dist-info/sboms/probelet-bindings.cyclonedx.json"


def program(*kinds: int) -> bytes:
    """A program of nothing but its ELF header and program headers of these types."""
    header = bytearray(64)
    header[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<Q", header, 32, 64)
    struct.pack_into("<HH", header, 54, 56, len(kinds))
    return bytes(header) + b"".join(struct.pack("<I", kind).ljust(56, b"\0") for kind in kinds)


def built(folder: Path, *, number: int = 0) -> Path:
    """A wheel as maturin writes it, on a machine where the checkout is ``folder``."""
    bill = {
        "serialNumber": f"urn:uuid:{number}",
        "metadata": {"timestamp": str(number), "component": {"bom-ref": f"path+file://{folder}/rust/core#1"}},
    }
    (folder / "wheel").mkdir()
    with ZipFile(folder / "wheel" / NAME, "w") as archive:
        archive.writestr("probelet/_rust.abi3.so", b"code")
        archive.writestr("probelet/__init__.py", b"")
        archive.writestr(BILL, json.dumps(bill))
        archive.writestr("probelet-1.dist-info/RECORD", "stale,,\n")
    return folder / "wheel" / NAME


def finished(folder: Path, *, number: int = 0) -> Path:
    folder.mkdir()
    wheel = built(folder, number=number)
    (folder / "probelet-enter").write_bytes(program(1, 2))
    return finish(wheel, folder / "probelet-enter", folder, folder, 0)


def test_the_helper_is_a_script_that_may_run(tmp_path: Path) -> None:
    with ZipFile(finished(tmp_path / "one")) as archive:
        entry = archive.getinfo("probelet-1.data/scripts/probelet-enter")
        assert archive.read(entry) == program(1, 2)
    assert entry.external_attr >> 16 == 0o100755


def test_the_record_names_every_file_with_its_hash_and_comes_last(tmp_path: Path) -> None:
    with ZipFile(finished(tmp_path / "one")) as archive:
        names = archive.namelist()
        rows = list(csv.reader(archive.read("probelet-1.dist-info/RECORD").decode().splitlines()))
        hashes = {name: hashlib.sha256(archive.read(name)).digest() for name in names[:-1]}
        sizes = {name: str(archive.getinfo(name).file_size) for name in names[:-1]}
    assert names[-1] == "probelet-1.dist-info/RECORD"
    assert rows[-1] == [names[-1], "", ""]
    assert {row[0]: (base64.urlsafe_b64decode(row[1].removeprefix("sha256=") + "=="), row[2]) for row in rows[:-1]} == {
        name: (hashes[name], sizes[name]) for name in hashes
    }


def test_two_machines_and_two_times_make_the_same_wheel(tmp_path: Path) -> None:
    one, other = finished(tmp_path / "one", number=1), finished(tmp_path / "other-place", number=2)
    assert one.read_bytes() == other.read_bytes()
    with ZipFile(one) as archive:
        assert json.loads(archive.read(BILL)) == {
            "metadata": {"component": {"bom-ref": "path+file://./rust/core#1"}},
        }


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (program(1, 3), "needs a dynamic loader"),
        (b"#!/bin/sh\n", "no program of a 64-bit little-endian Linux"),
        (b"\x7fELF\x01\x01" + bytes(60), "no program of a 64-bit little-endian Linux"),
    ],
    ids=["dynamic", "script", "32 bits"],
)
def test_a_helper_that_not_every_machine_can_run_is_refused(code: bytes, message: str, tmp_path: Path) -> None:
    wheel = built(tmp_path)
    (tmp_path / "probelet-enter").write_bytes(code)
    with pytest.raises(DistError, match=message):
        finish(wheel, tmp_path / "probelet-enter", tmp_path, tmp_path, 0)
    assert not (tmp_path / NAME).exists()


def test_a_static_program_needs_no_loader() -> None:
    assert not needs_loader(program(1, 2, 4))


def test_the_sums_are_those_of_sha256sum(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "a").write_bytes(b"x")
    assert sums(tmp_path).splitlines() == [
        f"{hashlib.sha256(b'x').hexdigest()}  a",
        f"{hashlib.sha256(b'').hexdigest()}  b",
    ]
