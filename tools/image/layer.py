"""A layer of the image: a folder as a compressed tar file that is the same, byte for byte, whenever it is made."""

import gzip
import hashlib
import io
import json
import shutil
import stat
import tarfile
from dataclasses import asdict, dataclass
from pathlib import Path

GZIP_LEVEL = 6
"""Level 9 takes three times as long for one per cent."""


@dataclass(frozen=True)
class Layer:
    """What the manifest and the configuration say of a layer."""

    file: Path
    """The compressed tar file."""
    digest: str
    """SHA-256 of the compressed file, in hexadecimal."""
    diff_id: str
    """SHA-256 of the tar file."""
    bytes: int
    """Length of the compressed file."""
    unpacked_bytes: int

    @classmethod
    def read(cls, file: Path) -> "Layer | None":
        """The layer that an earlier run wrote; None without one."""
        notes = file.with_suffix(".json")
        return cls(file, **json.loads(notes.read_text())) if notes.exists() else None

    @classmethod
    def write(cls, folder: Path, file: Path, epoch: int) -> "Layer":
        """Packs ``folder``; every file is root's and has the time ``epoch`` (seconds since 1970)."""
        tar = tar_of(folder, epoch)
        packed = gzip.compress(tar, GZIP_LEVEL, mtime=0)
        new = file.with_suffix(".new")
        new.write_bytes(packed)
        new.rename(file)
        digest, diff_id = (hashlib.sha256(data).hexdigest() for data in (packed, tar))
        layer = cls(file, digest, diff_id, len(packed), len(tar))
        notes = {name: value for name, value in asdict(layer).items() if name != "file"}
        # Last, because a layer with notes is taken for whole.
        file.with_suffix(".json").write_text(json.dumps(notes))
        return layer


def tar_of(folder: Path, epoch: int) -> bytes:
    """A tar file of everything below ``folder``, in the order of the names."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        # A folder comes before what is in it, and a link to a folder is not followed.
        for path in sorted(folder.rglob("*")):
            tar.addfile(*_entry(path, str(path.relative_to(folder)), epoch))
    return buffer.getvalue()


def unpack(tar: Path, folder: Path) -> None:
    """Unpacks a root file system: a folder, or a tar file in any compression that Python reads. Raises OSError."""
    if tar.is_dir():
        shutil.copytree(tar, folder, symlinks=True, dirs_exist_ok=True, ignore=_special)
        return
    with tarfile.open(tar) as archive:
        # Python 3.11.2, Debian 12's, has no filters yet.
        archive.extraction_filter = getattr(tarfile, "tar_filter", lambda member, _: member)
        archive.extractall(folder)


def _special(folder: str, names: list[str]) -> set[str]:
    """Devices and sockets: a runtime makes /dev itself."""
    kinds = {name: (Path(folder) / name).lstat().st_mode for name in names}
    return {
        name for name, mode in kinds.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    }


def _entry(path: Path, name: str, epoch: int) -> tuple[tarfile.TarInfo, io.BytesIO | None]:
    entry, mode = tarfile.TarInfo(name), path.lstat().st_mode
    entry.mtime = epoch
    if stat.S_ISLNK(mode):
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
        return entry, None
    if stat.S_ISDIR(mode):
        # /tmp and /var/tmp are everybody's; an unpacker that is not root may have lost the bit.
        entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if path.name == "tmp" else 0o755
        return entry, None
    data = path.read_bytes()
    # No file is set-uid, and none may be written by a group, whatever the umask of the machine was.
    entry.size, entry.mode = len(data), 0o755 if mode & stat.S_IXUSR else 0o644
    return entry, io.BytesIO(data)
