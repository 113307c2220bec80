"""Logs in the CRI's format."""

import errno
import logging
import os
import re
from pathlib import Path

import pytest
from probelet.base.logs.reader import LogReader
from probelet.base.logs.rotation import LogLimits
from probelet.runtime.embedded.pod.log import (
    LINE_BYTES_MAX,
    TAIL_BYTES_MAX,
    ContainerLog,
    LineSplitter,
    LogPath,
    timestamp,
)

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
    written = ContainerLog(LogPath(tmp_path, ("pod", "0.log")), LogLimits())
    written.write("stdout", b"out ")
    written.write("stderr", b"err\n")
    written.write("stdout", b"put\n")
    written.close()
    lines = (tmp_path / "pod" / "0.log").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["stderr F err", "stdout F out put"]


def test_a_full_log_is_rotated_and_the_oldest_parts_go(tmp_path: Path) -> None:
    (tmp_path / "1.log").touch()
    written = ContainerLog(LogPath(tmp_path, ("0.log",)), LogLimits(1_000, 3))
    for number in range(100):
        written.write("stdout", f"line {number}\n".encode())
    written.close()
    files = sorted(tmp_path.glob("0.log*"))
    assert [file.stat().st_size <= 1_000 for file in files] == [True] * 3
    assert "line 99" in files[0].read_text()
    reader = LogReader(tmp_path, (), "0.log")
    last = [int(line.split()[-1]) for line in b"".join(reader.blocks()).splitlines()]
    reader.close()
    assert last == list(range(last[0], 100)), "the parts in their order are the newest lines without a gap"
    assert (tmp_path / "1.log").exists()


def test_a_full_disk_loses_lines_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int, __: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    written = ContainerLog(LogPath(tmp_path, ("0.log",)), LogLimits())
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
        ContainerLog(LogPath(tmp_path, ("pod", "0.log")), LogLimits())
    assert victim.read_text() == "kept"


def test_only_the_newest_output_stays_in_memory() -> None:
    written = ContainerLog(None, LogLimits())
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
    container_log = ContainerLog(None, LogLimits())
    for start in range(0, len(written), 1000):
        container_log.write("stderr", written[start : start + 1000])
    assert container_log.last_lines() == said
