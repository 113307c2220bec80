"""A file's contents are replaced whole or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest
from probelet.base.files.replaced import replace_contents


def test_a_new_file_and_an_old_one_get_the_contents(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_contents(path, b"first")
    path.chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    replace_contents(tmp_path / "link", b"second")
    assert path.read_bytes() == b"second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert (tmp_path / "link").is_symlink()
    assert {each.name for each in tmp_path.iterdir()} == {"file", "link"}


def test_a_full_disk_leaves_the_old_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    write = Path.write_bytes

    def fails(self: Path, data: bytes) -> int:
        write(self, data[:1])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(OSError, match="No space left"):
        replace_contents(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_device_is_written_to() -> None:
    replace_contents(Path(os.devnull), b"x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
