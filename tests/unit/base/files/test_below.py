"""Names from elsewhere below a root directory: none reaches anything outside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from probelet.base.files import below

HOSTILE_NAMES = ("..", ".", "", "../victim", "x/../../victim", "/etc", "a/b", "a\0b")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.mkdir()
    (path / "kept").write_text("kept")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_that_is_no_entry_is_refused_everywhere(name: str, root: Path, victim: Path) -> None:
    calls = (
        lambda: below.remove_tree(root, name),
        lambda: below.remove_file(root, name),
        lambda: below.remove_file(root, name, "kept"),
        lambda: below.rename(root, name, to="x"),
        lambda: below.rename(victim, "kept", to=name),
        lambda: os.close(below.open_to_append(root, name)),
        lambda: os.close(below.open_to_append(root, name, "x")),
    )
    for call in calls:
        with pytest.raises(OSError, match="not a name of a file"):
            call()
    assert below.names_in(root, name) == []
    assert [path.name for path in victim.iterdir()] == ["kept"]
    assert list(root.iterdir()) == []


def test_no_link_is_followed(root: Path, victim: Path) -> None:
    (root / "link").symlink_to(victim)
    (root / "file").symlink_to(victim / "kept")
    below.remove_tree(root, "link")
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        below.remove_file(root, "link", "kept")
    with pytest.raises(OSError, match="Too many levels"):
        below.open_to_append(root, "file")
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        below.open_to_append(root, "link", "new")
    assert below.names_in(root, "link") == []
    assert [path.name for path in victim.iterdir()] == ["kept"]
    assert (victim / "kept").read_text() == "kept"


def test_a_link_inside_a_removed_directory_leads_nowhere(root: Path, victim: Path) -> None:
    (root / "pod" / "app").mkdir(parents=True)
    (root / "pod" / "app" / "0.log").symlink_to(victim / "kept")
    (root / "pod" / "link").symlink_to(victim)
    below.remove_tree(root, "pod")
    assert list(root.iterdir()) == []
    assert [path.name for path in victim.iterdir()] == ["kept"]


def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(OSError, match="No such device"):
        below.open_to_append(root, "pipe")
    # With a reader at its other end, the pipe could be opened.
    reader = os.open(root / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError, match="not a regular file"):
        below.open_to_append(root, "pipe")
    os.close(reader)


def test_a_file_is_made_with_its_directories_appended_to_renamed_and_removed(tmp_path: Path) -> None:
    root = tmp_path / "new" / "root"
    for text in (b"a", b"b"):
        fd = below.open_to_append(root, "pod", "app", "0.log")
        os.write(fd, text)
        os.close(fd)
    assert (root / "pod" / "app" / "0.log").read_bytes() == b"ab"
    below.rename(root, "pod", "app", "0.log", to="0.log.1")
    assert below.names_in(root, "pod", "app") == ["0.log.1"]
    below.remove_file(root, "pod", "app", "0.log.1")
    below.remove_file(root, "pod", "app", "0.log.1")
    assert below.names_in(root, "pod", "app") == []


def test_directories_nested_deeper_than_the_stack_end_nothing(root: Path) -> None:
    usual = sys.getrecursionlimit()
    fd = os.open(root, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    sys.setrecursionlimit(300)
    try:
        below.remove_tree(root, "d")
    finally:
        sys.setrecursionlimit(usual)
    # pytest's own removal would recurse too.
    subprocess.run(["rm", "-rf", root / "d"], check=True)
