"""Reading a file whose name comes from elsewhere neither waits nor takes more than its bound."""

import os
from pathlib import Path

import pytest
from probelet.base.files.regular_file import NotRegularError, read_regular

KERNEL_LOG = Path("/proc/kmsg")


def test_a_regular_file_and_a_link_to_one_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "file", 10) == read_regular(tmp_path / "link", 10) == b"text"


def test_a_longer_file_gives_little_more_than_the_bound(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(1 << 40)
    assert 10 < len(read_regular(tmp_path / "file", 10)) < 1 << 21


@pytest.mark.parametrize("what", ["pipe", "directory", "device", "terminal"])
def test_anything_else_is_refused_at_once(tmp_path: Path, what: str) -> None:
    path = tmp_path / "x"
    match what:
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case _:
            path.symlink_to({"device": "/dev/zero", "terminal": "/dev/ptmx"}[what])
    with pytest.raises(NotRegularError):
        read_regular(path, 10)


@pytest.mark.skipif(not os.access(KERNEL_LOG, os.R_OK), reason="needs the right to read the kernel's log")
def test_the_kernels_log_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").symlink_to(KERNEL_LOG)
    # Its end is reached when nothing is left to read, which is when a blocking read would wait.
    with pytest.raises(BlockingIOError):
        read_regular(tmp_path / "x.yaml", 1 << 30)
