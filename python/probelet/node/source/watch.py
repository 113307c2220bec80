"""The manifests that ``run`` is given: read once before anything starts, and again whenever they change."""

import asyncio
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

import structlog
from watchfiles import Change, awatch

from probelet.errors import ProbeletError
from probelet.node.source.files import SETTLE_SECONDS, ManifestFiles
from probelet.spec.read.load import Manifest
from probelet.spec.rules.runtime_kind import RuntimeKind
from probelet.spec.text.problem import Problem

# Changes that are not announced (a network file system, no watches left) are found this late: the kubelet's
# fileCheckFrequency (pkg/kubelet/apis/config/v1beta1/defaults.go, 1.36).
LOOK_AGAIN_SECONDS = 20.0
# How often the watcher's thread wakes to gather announced changes; cancelling waits for this too.
LOOK_STEP_MS = 50

SetPods = Callable[[list[Manifest]], None]

log = structlog.get_logger("probelet.run")


class ManifestError(ProbeletError):
    """The manifests have mistakes; the text has a line for each of their problems."""


class Manifests:
    """The pods in some files and directories. ``gates`` decide which of their fields exist.

    ``runtime``: what their containers are to run on. ``deny_hosts``: no probe or hook may name a host.
    """

    def __init__(
        self, paths: Sequence[Path], gates: Mapping[str, bool], *, runtime: RuntimeKind, deny_hosts: bool = False
    ) -> None:
        self._paths = paths
        self._files = ManifestFiles(paths, gates, runtime=runtime, deny_hosts=deny_hosts)

    def first(self) -> list[Manifest]:
        """The pods to begin with. Raises ManifestError if any manifest has a mistake, before anything has started."""
        loaded = self._files.first()
        if loaded.errors:
            raise ManifestError("\n".join(map(str, loaded.problems)))
        _tell(loaded.problems)
        return loaded.pods

    async def follow(self, set_pods: SetPods) -> None:
        """Give the whole set of pods again after each change, for ever (see ``manifest_files`` for what changes it)."""
        announced = True
        while True:
            try:
                await self._follow_folders(set_pods)
                announced = True
            except OSError as error:
                if announced:
                    log.warning(f"changes of manifests are found every {LOOK_AGAIN_SECONDS:g} s", error=str(error))
                announced = False
                await self._look(set_pods)
                await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _follow_folders(self, set_pods: SetPods) -> None:
        """Until a folder is replaced, goes or comes: then it needs another watch. Raises OSError without any."""
        folders = await asyncio.to_thread(watched_folders, self._paths)
        watch = awatch(
            *folders,
            watch_filter=only(self._paths),
            recursive=False,
            step=LOOK_STEP_MS,
            rust_timeout=int(LOOK_AGAIN_SECONDS * 1000),
            yield_on_timeout=True,
        )
        async with aclosing(watch) as changes:
            # The watch begins within this turn of the loop, so that no change falls between it and the first look.
            change = asyncio.ensure_future(anext(changes))
            await asyncio.sleep(0)
            try:
                while await asyncio.to_thread(watched_folders, self._paths) == folders:
                    unsettled = await self._look(set_pods)
                    await asyncio.wait([change], timeout=SETTLE_SECONDS if unsettled else None)
                    if change.done():
                        change.result()
                        change = asyncio.ensure_future(anext(changes))
            finally:
                change.cancel()
                await asyncio.wait([change])

    async def _look(self, set_pods: SetPods) -> bool:
        """Look at the files and give the pods if any was read; returns whether one has yet to settle."""
        look = await asyncio.to_thread(self._files.look, time.monotonic())
        _tell(look.problems)
        if look.kept:
            log.error("these pods stay as they are until their manifests are right", pods=look.kept)
        if look.pods is not None:
            log.info("manifests read again", pods=len(look.pods))
            set_pods(look.pods)
        return look.unsettled


def _tell(problems: Sequence[Problem]) -> None:
    for problem in problems:
        if problem.severity == "error":
            log.error(str(problem))
        else:
            log.warning(str(problem))


def watched_folders(paths: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    """The folders to watch, with the identity of each.

    A file is watched through its folder: editors replace it, and a watch on the file would go with the old one. So is
    a directory, which may go and come back as another; what is gone, through the nearest folder that is there.
    """
    found: dict[Path, tuple[int, int]] = {}
    for path in map(Path.absolute, paths):
        for folder in (path, path.parent):
            while (identity := _identity(folder)) is None:
                folder = folder.parent
            found[folder] = identity
    return found


def _identity(folder: Path) -> tuple[int, int] | None:
    """Device and inode of a folder; None for what is none, or gone."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def only(paths: Sequence[Path]) -> Callable[[Change, str], bool]:
    """Which announced changes are worth a look: of the paths, in them, and of the folders that lead to them."""
    named = [path.absolute() for path in paths]

    def concerns(_: Change, changed: str) -> bool:
        where = Path(changed)
        return where.parent in named or any(path.is_relative_to(where) for path in named)

    return concerns
