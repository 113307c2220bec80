"""Logs in the CRI's format."""

import errno
import logging
import os
import re
from pathlib import Path

import pytest
from probelet.cri.process.pod import log
from probelet.cri.process.pod.log import LINE_BYTES_MAX, TAIL_BYTES_MAX, ContainerLog, LineSplitter, LogPath, timestamp

NOON = 1_795_262_400_000_000_001
STAMP = b"2026-11-21T12:00:00.000000001Z"


def test_the_time_has_nanoseconds() -> None:
    assert timestamp(NOON).encode() == STAMP


def test_each_line_is_a_full_record() -> None:
    expected = STAMP + b" stdout F one\n" + STAMP + b" stdout F \n" + STAMP + b" stdout F two\n"
    assert LineSplitter("stdout").records(b"one\n\ntwo\n", NOON) == expected


def test_a_line_waits_for_its_newline() -> None:
    splitter = LineSplitter("stderr")
    assert splitter.records(b"half ", NOON) == b""
    assert splitter.records(b"line\nnext", NOON) == STAMP + b" stderr F half line\n"
    assert splitter.rest(NOON) == STAMP + b" stderr P next\n"
    assert splitter.rest(NOON) == b""


def test_an_overlong_line_comes_in_parts_that_join_to_the_line() -> None:
    splitter, line = LineSplitter("stdout"), b"x" * (3 * LINE_BYTES_MAX + 7)
    data, out = line + b"\nend\n", b""
    while data:
        out += splitter.records(data[:5_000], NOON)
        data = data[5_000:]
    found = re.findall(rb"(\S+) stdout (F|P) (.*)\n", out)
    kinds = [kind for _, kind, _ in found]
    assert kinds == [b"P"] * (len(found) - 2) + [b"F", b"F"]
    assert b"".join(text for _, _, text in found[:-1]) == line
    assert all(len(text) <= LINE_BYTES_MAX for _, _, text in found)
    assert found[-1][2] == b"end"


def test_streams_do_not_mix_within_a_line(tmp_path: Path) -> None:
    written = ContainerLog(LogPath(tmp_path, ("pod", "0.log")))
    written.write("stdout", b"out ")
    written.write("stderr", b"err\n")
    written.write("stdout", b"put\n")
    written.close()
    lines = (tmp_path / "pod" / "0.log").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["stderr F err", "stdout F out put"]


def test_a_full_log_keeps_one_older_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "FILE_BYTES_MAX", 1_000)
    path = tmp_path / "0.log"
    written = ContainerLog(LogPath(tmp_path, ("0.log",)))
    for number in range(100):
        written.write("stdout", f"line {number}\n".encode())
    written.close()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["0.log", "0.log.1"]
    assert all(entry.stat().st_size <= 1_000 for entry in tmp_path.iterdir())
    assert "line 99" in path.read_text()
    written.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_loses_lines_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int, __: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    written = ContainerLog(LogPath(tmp_path, ("0.log",)))
    monkeypatch.setattr(os, "write", refuse)
    with caplog.at_level(logging.WARNING):
        written.write("stdout", b"one\n")
        written.write("stdout", b"two\n")
    written.close()
    assert [record.getMessage() for record in caplog.records] == [
        f"log {tmp_path}/0.log: lines are lost: No space left on device"
    ]
    assert written.tail == b"one\ntwo\n"


@pytest.mark.parametrize("what", ["link", "pipe", "device"])
def test_a_log_that_its_container_replaced_is_neither_followed_nor_waited_for(tmp_path: Path, what: str) -> None:
    (tmp_path / "pod").mkdir()
    path, victim = tmp_path / "pod" / "0.log", tmp_path / "victim"
    victim.write_text("kept")
    match what:
        case "link":
            path.symlink_to(victim)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.symlink_to("/dev/zero")
    with pytest.raises(OSError, match=r"Too many levels|No such device"):
        ContainerLog(LogPath(tmp_path, ("pod", "0.log")))
    assert victim.read_text() == "kept"


def test_a_log_whose_older_part_is_a_directory_is_removed_as_far_as_possible(tmp_path: Path) -> None:
    written = ContainerLog(LogPath(tmp_path, ("0.log",)))
    (tmp_path / "0.log.1" / "of-the-container").mkdir(parents=True)
    written.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["0.log.1"]


def test_only_the_newest_output_stays_in_memory() -> None:
    written = ContainerLog(None)
    written.write("stdout", b"a" * TAIL_BYTES_MAX)
    written.write("stdout", b"the end")
    assert len(written.tail) == TAIL_BYTES_MAX
    assert written.tail.endswith(b"aaathe end")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"", []),
        (b"one\ntwo", ["one", "two"]),
        (b"one\n\n\n", ["one"]),
        (b"\xff\n", ["\ufffd"]),
        (b"\n".join(b"%d" % number for number in range(100)), [str(number) for number in range(20, 100)]),
        (b"x" * 3000 + b"\nwhole\n", ["whole"]),
        (b"x" * 3000, ["x" * TAIL_BYTES_MAX]),
        (b"x" * 3000 + b"\n", ["x" * (TAIL_BYTES_MAX - 1)]),
    ],
)
def test_the_last_lines_are_whole_and_few(written: bytes, said: list[str]) -> None:
    container_log = ContainerLog(None)
    for start in range(0, len(written), 1000):
        container_log.write("stderr", written[start : start + 1000])
    assert container_log.last_lines() == said
