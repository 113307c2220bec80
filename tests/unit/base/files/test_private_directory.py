"""Directories for temporary files: those of dead processes of this user go, all others stay."""

import fcntl
import os
import stat
import tempfile
from pathlib import Path

import pytest
from probelet.base.files.private_directory import private_directory

from tests.support.other_user import as_other_user, needs_root


@pytest.fixture(autouse=True)
def _folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(shared))


def test_it_is_private_and_removed_at_the_end(shared: Path) -> None:
    with private_directory("p-") as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        (path / "socket").touch()
    assert list(shared.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays(shared: Path) -> None:
    child = os.fork()
    if child == 0:
        with private_directory("p-") as path:
            (path / "left").touch()
            os._exit(0)
    os.waitpid(child, 0)
    assert len(list(shared.iterdir())) == 1
    with private_directory("p-") as first, private_directory("p-") as second:
        assert set(shared.iterdir()) == {first, second}


def test_other_names_and_links_stay(shared: Path) -> None:
    (shared / "q-other").mkdir()
    (shared / "p-file").touch()
    (shared / "p-link").symlink_to("q-other")
    before = set(shared.iterdir())
    with private_directory("p-") as path:
        assert set(shared.iterdir()) == before | {path}


def test_a_directory_that_is_locked_stays(shared: Path) -> None:
    (shared / "p-locked").mkdir()
    fd = os.open(shared / "p-locked", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    with private_directory("p-"):
        assert (shared / "p-locked").exists()
    os.close(fd)


@needs_root
def test_a_directory_of_another_user_stays(shared: Path) -> None:
    as_other_user(lambda: (shared / "p-theirs").mkdir(0o777))
    with private_directory("p-"):
        assert (shared / "p-theirs").exists()
