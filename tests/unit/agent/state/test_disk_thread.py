"""Changes of files on a disk that answers, refuses, hangs and goes on."""

import asyncio
import errno
import gc
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from threading import Event

import pytest
from probelet.agent.state import disk_thread

from tests.support.patience import PATIENCE_SECONDS


class Disk:
    """Notes which changes are made; hangs while ``goes_on`` is not set."""

    def __init__(self) -> None:
        self.goes_on = Event()
        self.goes_on.set()
        self.made: list[str] = []
        self.is_idle = Event()

    def change(self, what: str, last: bool = False) -> disk_thread.Change:
        def change() -> None:
            self.goes_on.wait(PATIENCE_SECONDS)
            self.made.append(what)
            if last:
                self.is_idle.set()

        return change


@pytest.fixture
def quick_disk() -> None:
    """These tests are about the thread itself."""


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.setattr(disk_thread, "WAIT_SECONDS", 0.05)
    disk = Disk()
    yield disk
    disk.goes_on.set()


async def test_a_change_is_made_when_its_caller_goes_on(disk: Disk) -> None:
    thread = disk_thread.DiskThread()
    for number in range(20):
        await thread.make(f"{number % 3}", disk.change(f"{number}"))
        assert disk.made[-1] == f"{number}"


async def test_an_error_reaches_the_caller_and_nobody_else(disk: Disk) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, "full")

    thread = disk_thread.DiskThread()
    refused = asyncio.create_task(thread.make("a", refuse))
    await thread.make("b", disk.change("b"))
    with pytest.raises(OSError, match="full"):
        await refused


async def test_a_disk_that_hangs_holds_up_each_caller_for_a_while_and_later_ones_not_at_all(disk: Disk) -> None:
    disk.goes_on.clear()
    thread = disk_thread.DiskThread()
    with pytest.raises(TimeoutError, match="the disk has not answered for"):
        await thread.make("a", disk.change("a1"))
    for number in range(1000):
        with pytest.raises(TimeoutError):
            await thread.make(f"{number % 2}", disk.change(f"{number}"))
    assert disk.made == []
    kept = sum(isinstance(each, Future) for each in gc.get_objects())
    assert kept < 100, "nobody is kept who waits no more"
    disk.goes_on.set()
    with suppress(TimeoutError):
        # Whether the thread is still in the middle of the first change or has made all, the end is the same.
        await thread.make("last", disk.change("last", last=True))
    assert disk.is_idle.wait(PATIENCE_SECONDS)
    assert disk.made == ["a1", "998", "999", "last"], "of each file the last one"


async def test_callers_of_a_change_that_was_replaced_return_with_the_later_one(disk: Disk) -> None:
    disk.goes_on.clear()
    thread = disk_thread.DiskThread()
    with pytest.raises(TimeoutError):
        await thread.make("first", disk.change("first"))
    callers = [
        asyncio.create_task(thread.make("a", disk.change(what, last=what == "a3"))) for what in ("a1", "a2", "a3")
    ]
    await asyncio.gather(*callers, return_exceptions=True)
    disk.goes_on.set()
    assert disk.is_idle.wait(PATIENCE_SECONDS)
    assert disk.made == ["first", "a3"]


async def test_a_disk_that_goes_on_is_waited_for_again(disk: Disk) -> None:
    disk.goes_on.clear()
    thread = disk_thread.DiskThread()
    with pytest.raises(TimeoutError):
        await thread.make("a", disk.change("a", last=True))
    disk.goes_on.set()
    assert disk.is_idle.wait(PATIENCE_SECONDS)
    # The thread may still count as busy with the change for a moment.
    for _ in range(100):
        try:
            await thread.make("b", disk.change("b"))
            break
        except TimeoutError:
            await asyncio.sleep(0)
    assert disk.made[-1] == "b"
