"""An agent that dies at one await of some coroutine, as kill -9 would end it: the state directory is copied there."""

import asyncio
import shutil
import types
from collections.abc import Coroutine, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class Crash:
    """Lets the coroutines that it drives come to their await number ``step``, counted from 0 over all of them, and no
    further. ``steps`` counts them; ``left`` is what the next agent finds."""

    def __init__(self, step: int, folder: Path) -> None:
        self.steps = 0
        self.has_come = asyncio.Event()
        self.left = folder.with_name(f"{folder.name}-left")
        self._step = step
        self._folder = folder

    async def drive(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await self._driven(work)
        finally:
            work.close()

    @types.coroutine
    def _driven(self, work: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
        while True:
            if self.has_come.is_set():
                # A process dies as a whole.
                yield from asyncio.Event().wait().__await__()
            try:
                waited = work.send(None)
            except StopIteration as end:
                found: T = end.value
                return found
            if self.steps == self._step:
                # What the await has begun, such as a write on a thread, may or may not happen; here it has begun.
                shutil.copytree(self._folder, self.left, ignore=_ignored, copy_function=_copied)
                self.has_come.set()
                yield from asyncio.Event().wait().__await__()
            self.steps += 1
            yield waited


def _ignored(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name.endswith(".sock")}


def _copied(source: str, target: str) -> None:
    # Another thread may just rename a file that it has written.
    with suppress(FileNotFoundError):
        shutil.copy(source, target)
