"""The logs of runs of the embedded runtime, which stay when a pod or a run has ended: ``<folder>/<run>/<pod>/...``.

Of the runs that have ended, and of the pods of this run that have ended, the newest logs stay, within limits for all of
them together. The logs of pods that run are bounded by their rotation. Only probelet and its containers, which are
processes of its user, write below the folder; anything else that is there counts and goes as if it was a log.
"""

import asyncio
import os
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from probelet.base.files import below

FOLDER: Final = "logs"

RUNS_MAX: Final = 10
"""Runs that have logs, with the present one."""

BYTES_MAX: Final = 100 * 1024 * 1024
"""Bytes of logs that stay of what has ended."""

FILES_MAX: Final = 10_000
"""Files that stay of what has ended. A run with more entries than this goes whole."""

PRUNE_NS: Final = 1_000_000_000
"""Pause between two looks for logs beyond the limits while pods end."""


class _File(NamedTuple):
    modified_ns: int
    size: int
    names: tuple[str, ...]
    """Below the folder: the run, the pod's directory, the container, the file."""


class KeptLogs:
    """The logs of one run among those of the earlier ones."""

    def __init__(self, state_dir: Path, now: datetime) -> None:
        """Makes the directory of a run that begins ``now``, in the folder ``logs`` of ``state_dir``. Raises OSError."""
        with below.directory(state_dir, FOLDER, make=True) as made:
            os.fchmod(made, 0o700)
        self._folder = folder = state_dir / FOLDER
        self._run = _free_name(folder, f"{now:%Y%m%d-%H%M%S}")
        self._ended: set[str] = set()
        self._news = asyncio.Event()
        below.make_directory(folder, self._run)
        self.prune()

    @property
    def root(self) -> Path:
        """The directory of this run: the root of its pods' logs."""
        return self._folder / self._run

    def pod_ended(self, directory: str) -> None:
        """The pod whose logs are in ``directory`` has ended: from now on the limits hold for them."""
        self._ended.add(directory)
        self._news.set()

    def pod_begins(self, directory: str) -> None:
        """A pod of that name and UID is there again."""
        self._ended.discard(directory)

    async def follow(self, sleep: Callable[[int], Awaitable[None]]) -> None:
        """Removes, for ever, what ended pods leave beyond the limits. ``sleep`` takes nanoseconds."""
        while True:
            await self._news.wait()
            self._news.clear()
            await asyncio.to_thread(self.prune)
            await sleep(PRUNE_NS)

    def close(self) -> None:
        """The run has ended, and with it all of its pods. A run without logs leaves nothing."""
        self._ended.update(below.names_in(self._folder, self._run))
        self.prune()
        with suppress(OSError):
            self.root.rmdir()
            self._folder.rmdir()

    def prune(self) -> None:
        """Removes the oldest logs of what has ended until the rest is within the limits."""
        runs = sorted(set(below.names_in(self._folder)) - {self._run})
        for run in runs[: max(0, len(runs) - (RUNS_MAX - 1))]:
            self._remove(run)
        files: list[_File] = []
        for run in (*runs[-(RUNS_MAX - 1) :], self._run):
            wanted = self._ended if run == self._run else None
            found = list(_up_to(FILES_MAX + 1, self._files(run, wanted)))
            if len(found) > FILES_MAX and run != self._run:
                self._remove(run)
            else:
                files += found
        files.sort(reverse=True)
        size = 0
        for at, file in enumerate(files):
            size += file.size
            if size > BYTES_MAX or at >= FILES_MAX:
                self._remove_file(file.names)

    def _files(self, run: str, wanted: set[str] | None) -> Iterator[_File]:
        for pod in below.names_in(self._folder, run):
            if wanted is None or pod in wanted:
                files = list(_up_to(FILES_MAX + 1, self._below((run, pod))))
                newest = max((file.modified_ns for file in files), default=0)
                # What describes the pod goes with the pod's newest log.
                yield from (file._replace(modified_ns=newest) if len(file.names) == 3 else file for file in files)

    def _below(self, names: tuple[str, ...]) -> Iterator[_File]:
        """The files of a pod's directory and of the directories in it. What is nested deeper goes with the run."""
        try:
            with below.directory(self._folder, *names) as folder, os.scandir(folder) as entries:
                found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError:
            return
        for name, status in found:
            if not stat.S_ISDIR(status.st_mode):
                yield _File(status.st_mtime_ns, status.st_blocks * 512, (*names, name))
            elif len(names) == 2:
                yield from self._below((*names, name))

    def _remove(self, run: str) -> None:
        with suppress(OSError):
            below.remove_tree(self._folder, run)

    def _remove_file(self, names: tuple[str, ...]) -> None:
        """Removes a file, and the directories above it that are then empty."""
        with suppress(OSError):
            below.remove_file(self._folder, *names)
            for depth in range(len(names) - 1, 0, -1):
                with below.directory(self._folder, *names[: depth - 1]) as folder:
                    os.rmdir(names[depth - 1], dir_fd=folder)


def _free_name(folder: Path, name: str) -> str:
    """``name``, or with a number behind it if a run of that second is there."""
    taken = set(below.names_in(folder))
    if name not in taken:
        return name
    return next(f"{name}-{number}" for number in range(2, len(taken) + 3) if f"{name}-{number}" not in taken)


def _up_to(count: int, files: Iterator[_File]) -> Iterator[_File]:
    for _, file in zip(range(count), files, strict=False):
        yield file
