"""Calls that hang cost their own key and a bounded number of threads."""

import threading
from collections.abc import Iterator

import pytest
from probelet.node.source import file_calls
from probelet.node.source.file_calls import FileCalls, in_daemon_thread

SECONDS = 0.02


class Disk:
    """Answers with the key itself; a call of a key in ``hanging`` waits until ``released``."""

    def __init__(self) -> None:
        self.hanging: set[str] = set()
        self.asked: list[str] = []
        self.released = threading.Event()

    def read(self, key: str) -> str:
        self.asked.append(key)
        if key in self.hanging:
            self.released.wait()
        return key


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.released.set()


def waiting() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "probelet-files"]


def test_every_call_is_made_once_in_order(disk: Disk) -> None:
    assert list(FileCalls(SECONDS).each(disk.read, ["b", "a", "b"])) == ["b", "a"]
    assert disk.asked == ["b", "a"]


def test_a_call_that_hangs_costs_its_own_key_only(disk: Disk) -> None:
    calls = FileCalls(SECONDS)
    disk.hanging = {"b", "d"}
    assert list(calls.each(disk.read, "abcde")) == ["a", "c", "e"]
    assert (calls.hangs("b"), calls.hangs("a")) == (True, False)
    # A key that hangs is not tried again, and costs no time.
    disk.asked.clear()
    assert list(calls.each(disk.read, "abcde")) == ["a", "c", "e"]
    assert disk.asked == ["a", "c", "e"]


def test_the_threads_left_behind_do_not_hold_up_the_end_of_the_process(disk: Disk) -> None:
    disk.hanging = {"a"}
    FileCalls(SECONDS).each(disk.read, "a")
    assert [thread.daemon for thread in waiting()] == [True]


def test_a_call_that_returns_late_makes_its_key_free_again(disk: Disk) -> None:
    calls = FileCalls(SECONDS)
    disk.hanging = {"a"}
    assert calls.each(disk.read, "ab") == {"b": "b"}
    disk.released.set()
    for thread in waiting():
        thread.join()
    assert calls.each(disk.read, "ab") == {"a": "a", "b": "b"}


def test_the_threads_are_bounded(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_calls, "HANGING_MAX", 3)
    calls = FileCalls(SECONDS)
    disk.hanging = set("abcde")
    assert calls.each(disk.read, "abcdef") == {}
    assert (len(waiting()), calls.exhausted) == (3, True)
    assert calls.each(disk.read, "f") == {}


def test_an_error_of_a_call_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        FileCalls(SECONDS).each(lambda divisor: 1 // divisor, [1, 0])


async def test_a_result_or_an_error_comes_back_to_the_loop() -> None:
    assert await in_daemon_thread(lambda: 1) == 1
    with pytest.raises(ZeroDivisionError):
        await in_daemon_thread(lambda: 1 // 0)
