"""A log and its rotated parts, read to the end and beyond."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from probelet.base.logs import reader as reader_module
from probelet.base.logs.reader import LogReader

FOLDER = ("pod", "app")
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    folder = tmp_path.joinpath(*FOLDER)
    folder.mkdir(parents=True)

    def write(name: str, *numbers: int, append: bool = False) -> Path:
        data = b"".join(b"line %d\n" % number for number in numbers)
        path = folder / name
        path.write_bytes((path.read_bytes() if append else b"") + (gzip.compress(data) if name[-3:] == ".gz" else data))
        return path

    return write


@pytest.fixture(params=[7, 65_536], autouse=True)
def _blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines begin and end anywhere in a block."""
    monkeypatch.setattr(reader_module, "BLOCK_BYTES", request.param)


def numbers(blocks: Iterator[bytes]) -> list[int]:
    return [int(line.split()[1]) for line in b"".join(blocks).splitlines()]


def open_log(tmp_path: Path) -> "closing[LogReader]":
    return closing(LogReader(tmp_path, FOLDER, "0.log"))


@pytest.mark.parametrize("lines", [None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 100])
def test_the_last_lines_come_from_as_many_parts_as_they_need(write: Write, tmp_path: Path, lines: int | None) -> None:
    write("0.log.20260101-000000.gz", 1, 2)
    write("0.log.20260101-000100", 3, 4, 5)
    write("0.log.20260101-000100.gz.tmp", 99)
    write("0.log", 6, 7)
    write("10.log", 99)
    with open_log(tmp_path) as log:
        everything = list(range(1, 8))
        assert numbers(log.blocks(lines)) == (
            everything if lines is None else everything[len(everything) - min(lines, 7) :]
        )


def test_what_is_appended_is_read_once_and_in_order_across_rotations(write: Write, tmp_path: Path) -> None:
    path = write("0.log", 1)
    with open_log(tmp_path) as log:
        assert numbers(log.blocks()) == [1]
        assert numbers(log.more()) == []
        write("0.log", 2, append=True)
        path.rename(path.with_name("0.log.20260101-000000"))
        # Until the runtime opens the log again it writes on to the renamed file.
        assert numbers(log.more()) == [2]
        write("0.log.20260101-000000", 3, append=True)
        write("0.log", 4)
        path.rename(path.with_name("0.log.20260101-000001"))
        write("0.log", 5)
        assert numbers(log.more()) == [3, 4, 5]
        assert numbers(log.more()) == []


def test_a_part_that_was_compressed_meanwhile_is_followed_by_the_log(write: Write, tmp_path: Path) -> None:
    path = write("0.log", 1)
    with open_log(tmp_path) as log:
        assert numbers(log.blocks()) == [1]
        path.unlink()
        write("0.log.20260101-000000.gz", 1)
        write("0.log", 2)
        assert numbers(log.more()) == [2]


def test_a_log_that_is_being_rotated_begins_with_its_part(write: Write, tmp_path: Path) -> None:
    write("0.log.20260101-000000", 1)
    with open_log(tmp_path) as log:
        assert numbers(log.blocks()) == [1]
        write("0.log", 2)
        assert numbers(log.more()) == [2]


def test_a_damaged_part_costs_nothing_of_the_next_one(write: Write, tmp_path: Path) -> None:
    part = write("0.log.20260101-000000.gz", *range(1_000))
    part.write_bytes(part.read_bytes()[:200])
    write("0.log.20260101-000001.gz").write_bytes(b"not compressed")
    write("0.log", 5_000)
    with open_log(tmp_path) as log:
        assert b"".join(log.blocks()).splitlines()[-1] == b"line 5000"


@pytest.mark.parametrize("place", ["log", "folder"])
def test_a_link_leads_nowhere(write: Write, tmp_path: Path, place: str) -> None:
    secret = write("secret", 1)
    if place == "log":
        secret.with_name("0.log").symlink_to(secret)
    else:
        secret.parent.rename(tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / "0.log").touch()
        secret.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"Too many levels|Not a directory"):
        open_log(tmp_path)


def test_no_log_at_all_is_not_found(write: Write, tmp_path: Path) -> None:
    write("1.log", 1)
    with pytest.raises(FileNotFoundError):
        open_log(tmp_path)
