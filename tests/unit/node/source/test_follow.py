"""Following the manifests on a kernel that gives no watch, or takes it away: the changes are found all the same."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from probelet.config import Gates
from probelet.node.source import watch as watch_module
from probelet.node.source.files import SETTLE_NS
from probelet.node.source.watch import LOOK_AGAIN_NS, Manifests
from structlog.testing import capture_logs
from watchfiles import awatch
from watchfiles._rust_notify import WatchfilesRustInternalError

from tests.unit.node.source.test_manifest_files import pod

NO_INSTANCES = WatchfilesRustInternalError("error: Too many open files (os error 24)")
NO_WATCHES = OSError(28, "No space left on device")
SAID = "changes of manifests are found every 20 s"
AGAIN = "changes of manifests are found at once again"


class Clock:
    """Timers whose sleeps are over at once; ``act`` is called with the number of the long sleep."""

    def __init__(self, act: Callable[[int], object]) -> None:
        self.time = 0
        self.looks = 0
        self._act = act

    def now(self) -> int:
        return self.time

    async def sleep(self, ns: int) -> None:
        assert ns == LOOK_AGAIN_NS
        self.time += ns
        self.looks += 1
        self._act(self.looks)
        await asyncio.sleep(0)

    async def done_within(self, ns: int, awaited: "asyncio.Future[Any]") -> bool:
        self.time += ns
        await asyncio.sleep(0)
        return awaited.done()


class Kernel:
    """Gives the watches of ``awatch``: each entry of ``watches`` is the error at its begin, or None; then the error of
    a watch that is lost."""

    def __init__(self, *watches: tuple[Exception | None, Exception | None]) -> None:
        self._watches = list(watches)

    async def awatch(self, *_: Path, **__: object) -> AsyncIterator[set[Any]]:
        refused, lost = self._watches.pop(0) if self._watches else (None, None)
        if refused is not None:
            raise refused
        yield set()
        if lost is not None:
            raise lost
        await asyncio.Event().wait()


async def followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Kernel, act: Callable[[int], object], until: str
) -> tuple[list[str], list[set[str]]]:
    """Follows a directory until the pod ``until`` is there; returns the lines of the log and the sets of pods."""
    monkeypatch.setattr(watch_module, "awatch", kernel.awatch)
    manifests = Manifests([tmp_path], Gates(), runtime="process")
    manifests.first()
    sets: list[set[str]] = []
    there = asyncio.Event()

    def set_pods(found: list[Any]) -> None:
        sets.append({manifest.pod.metadata.name for manifest in found})
        if until in sets[-1]:
            there.set()

    with capture_logs() as lines:
        task = asyncio.ensure_future(manifests.follow(set_pods, Clock(act)))  # type: ignore[arg-type]
        over = asyncio.ensure_future(there.wait())
        await asyncio.wait([task, over], return_when=asyncio.FIRST_COMPLETED)
        assert not task.done() or task.exception() is None, task.exception()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return [line["event"] for line in lines if line["event"] in (SAID, AGAIN)], sets


@pytest.mark.parametrize("error", [NO_INSTANCES, NO_WATCHES, RuntimeError("can't start new thread")])
async def test_without_a_watch_changes_are_found_by_looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def act(look: int) -> None:
        if look == 3:
            (tmp_path / "a.yaml").write_text(pod("a"))

    kernel = Kernel(*[(error, None)] * 20)
    lines, sets = await followed(tmp_path, monkeypatch, kernel, act, until="a")
    assert lines == [SAID]
    assert sets == [{"a"}]
    assert LOOK_AGAIN_NS > SETTLE_NS


async def test_a_watch_that_works_again_is_used_and_a_second_loss_is_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(look: int) -> None:
        if look == 3:
            (tmp_path / "a.yaml").write_text(pod("a"))

    kernel = Kernel((NO_INSTANCES, None), (None, NO_WATCHES), (None, NO_INSTANCES), *[(NO_INSTANCES, None)] * 20)
    lines, sets = await followed(tmp_path, monkeypatch, kernel, act, until="a")
    assert lines == [SAID, AGAIN, SAID, AGAIN, SAID]
    assert sets == [{"a"}]


class KernelWithOddName(Kernel):
    """Gives real watches; in the first one a file appears whose name is not UTF-8."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._odd = [Path(os.fsdecode(os.fsencode(folder) + b"/\xff\x1b[2J.yaml"))]

    async def awatch(self, *folders: Path, **options: Any) -> AsyncIterator[set[Any]]:
        # The watch begins in this turn of the loop.
        for odd in self._odd:
            asyncio.get_running_loop().call_soon(odd.touch)
        self._odd = []
        async for changes in awatch(*folders, **options):
            yield changes


async def test_a_name_that_is_not_utf8_ends_the_watch_and_not_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(look: int) -> None:
        (tmp_path / "a.yaml").write_text(pod("a"))

    lines, sets = await followed(tmp_path, monkeypatch, KernelWithOddName(tmp_path), act, until="a")
    assert lines[0] == SAID
    assert sets[-1] == {"a"}


async def test_a_directory_that_hangs_is_not_watched_and_the_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = Manifests([tmp_path / "a", tmp_path / "b"], Gates(), runtime="process")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(manifests._calls, "each", lambda call, paths: {paths[1]: call(paths[1])})
    assert set(manifests._folders()) == {tmp_path, tmp_path / "b"}
    monkeypatch.setattr(manifests._calls, "each", lambda *_: {})
    with pytest.raises(OSError, match="timed out"):
        manifests._folders()
