"""The wheels of a release: maturin's, with the helper program and without what only this machine has; conformance's."""

import base64
import csv
import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

PROGRAM = "probelet-enter"
SBOM = ".dist-info/sboms/probelet-bindings.cyclonedx.json"

ZIP_EPOCH = 315_532_800
"""1980-01-01, the earliest time that a zip file can hold, in seconds since 1970."""

PT_INTERP = 3
"""elf(5): the program header that names a dynamic loader."""


class DistError(Exception):
    """The files of the release were not made; the message is one line for the person who runs make."""


def finish(wheel: Path, program: Path, root: Path, folder: Path, epoch: int) -> Path:
    """Writes the wheel into ``folder``; every file has the time ``epoch`` (seconds since 1970). Raises DistError.

    The program becomes a script of the wheel: pip puts it beside the interpreter of an environment, which is where
    `execMode: direct` looks for it.
    """
    code = program.read_bytes()
    if needs_loader(code):
        raise DistError(f"{program}: needs a dynamic loader; a release wants it static (Fedora: dnf install glibc-static)")
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    name = record.removesuffix(".dist-info/RECORD")
    del files[record]
    files[f"{name}{SBOM}"] = _bill(files[f"{name}{SBOM}"], root)
    script = f"{name}.data/scripts/{PROGRAM}"
    files[script] = code
    files[record] = _record(files, record)
    written = folder / wheel.name
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        # The RECORD is last, as PEP 427 recommends.
        for path in [*sorted(files.keys() - {record}), record]:
            archive.writestr(_entry(path, epoch, is_program=path == script), files[path])
    return written


def build_conformance(root: Path, folder: Path, epoch: int) -> None:
    """Builds the wheel of ``conformance/`` into ``folder`` with what the lock has for it. Raises DistError."""
    for old in folder.glob("probelet_conformance-*.whl"):
        old.unlink()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    command = [*pip, "--no-build-isolation", "--wheel-dir", str(folder), str(root / "conformance")]
    variables = {**os.environ, "SOURCE_DATE_EPOCH": str(max(epoch, ZIP_EPOCH))}
    ended = subprocess.run(command, env=variables, capture_output=True, text=True)
    if ended.returncode:
        raise DistError(f"pip could not build conformance/: {ended.stderr.strip()}")


def needs_loader(code: bytes) -> bool:
    """Whether a program (ELF, 64 bits, little-endian) is started by a dynamic loader. Raises DistError for no such."""
    if code[:6] != b"\x7fELF\x02\x01":
        raise DistError(f"{PROGRAM}: is no program of a 64-bit little-endian Linux")
    (headers,) = struct.unpack_from("<Q", code, 32)
    size, count = struct.unpack_from("<HH", code, 54)
    return any(struct.unpack_from("<I", code, headers + size * i)[0] == PT_INTERP for i in range(count))


def _bill(text: bytes, root: Path) -> bytes:
    """maturin's bill of the crates without the path of this checkout, a random number and the time."""
    bill: dict[str, Any] = json.loads(text.replace(f"file://{root}".encode(), b"file://."))
    bill.pop("serialNumber", None)
    bill["metadata"].pop("timestamp", None)
    return json.dumps(bill, indent=2).encode()


def _record(files: dict[str, bytes], record: str) -> bytes:
    """The list of all files with their hashes: binary distribution format, PEP 427."""
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for path, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow((path, f"sha256={digest}", len(data)))
    writer.writerow((record, "", ""))
    return rows.getvalue().encode()


def _entry(path: str, epoch: int, *, is_program: bool) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, time.gmtime(max(epoch, ZIP_EPOCH))[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100755 if is_program or path.endswith(".so") else 0o100644) << 16
    return entry
