"""The way to a directory: no other user may be able to change it."""

import os
import stat
from pathlib import Path

import pytest
from probelet.base.files.trusted_directory import UntrustedError, open_trusted

from tests.support.other_user import OTHER_UID, as_other_user, needs_root


def identity(path: Path, *, make: bool = False) -> tuple[int, int]:
    fd, _ = open_trusted(path, make=make)
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    return found.st_dev, found.st_ino


def same(path: Path) -> tuple[int, int]:
    return path.stat().st_dev, path.stat().st_ino


def test_an_own_directory_is_opened_also_through_own_links_and_parents(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "absolute").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "relative").symlink_to("../a/./b")
    for way in ("a/b", "absolute/b", "a/relative", "a/b/../b", "absolute/relative/../../absolute/b"):
        assert identity(tmp_path / way) == same(tmp_path / "a" / "b"), way


def test_missing_directories_are_made_and_only_the_last_is_private(tmp_path: Path) -> None:
    fd, made = open_trusted(tmp_path / "a" / "b", make=True)
    os.close(fd)
    assert made
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert not (tmp_path / "a").stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    fd, made = open_trusted(tmp_path / "a" / "b", make=True)
    os.close(fd)
    assert not made


def test_a_directory_on_the_way_that_others_can_write_in_is_refused_unless_it_is_sticky(tmp_path: Path) -> None:
    (tmp_path / "open" / "state").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(UntrustedError) as error:
        open_trusted(tmp_path / "open" / "state")
    assert str(error.value) == (
        f"{tmp_path}/open is writable by other users (mode 777), who could replace what is in it"
    )
    (tmp_path / "open").chmod(0o1777)
    assert identity(tmp_path / "open" / "state") == same(tmp_path / "open" / "state")


@needs_root
def test_a_directory_that_a_foreign_group_can_write_in_is_refused(tmp_path: Path) -> None:
    (tmp_path / "group" / "state").mkdir(parents=True)
    (tmp_path / "group").chmod(0o775)
    # The group of this user alone.
    assert identity(tmp_path / "group" / "state") == same(tmp_path / "group" / "state")
    os.chown(tmp_path / "group", 0, OTHER_UID)
    with pytest.raises(UntrustedError, match="writable by other users"):
        open_trusted(tmp_path / "group" / "state")


@needs_root
def test_a_directory_of_another_user_on_the_way_is_refused(shared: Path) -> None:
    as_other_user(lambda: (shared / "theirs" / "state").mkdir(parents=True))
    with pytest.raises(UntrustedError) as error:
        open_trusted(shared / "theirs" / "state")
    assert str(error.value) == f"{shared}/theirs belongs to uid {OTHER_UID}, which could replace what is in it"


@needs_root
def test_a_link_of_another_user_is_refused_and_nothing_is_made_behind_it(shared: Path, tmp_path: Path) -> None:
    as_other_user(lambda: (shared / "state").symlink_to(tmp_path))
    for path in (shared / "state", shared / "state" / "a" / "b"):
        with pytest.raises(UntrustedError) as error:
            open_trusted(path, make=True)
        assert str(error.value) == f"{shared}/state is a link of uid {OTHER_UID}, which can change it"
    assert list(tmp_path.iterdir()) == []


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels"):
        open_trusted(tmp_path / "a")


def test_a_file_on_the_way_or_at_its_end_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "state"):
        with pytest.raises(NotADirectoryError):
            open_trusted(path)


def test_no_descriptor_is_left_after_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "open" / "state").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in (tmp_path / "open" / "state", tmp_path / "missing" / "state"):
        with pytest.raises((UntrustedError, OSError)):
            open_trusted(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
