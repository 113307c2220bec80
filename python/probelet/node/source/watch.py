"""The manifests of ``run``: read once before anything starts, and read again after each change."""

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path

import structlog
from watchfiles import Change, awatch

from probelet.errors import ProbeletError
from probelet.node.source.file_calls import FileCalls, in_daemon_thread
from probelet.node.source.files import SETTLE_NS, ManifestFiles
from probelet.node.source.ignored_summary import IgnoredSummary
from probelet.node.timers import Timers
from probelet.spec.objects.config_object import ObjectStore
from probelet.spec.read.load import Manifest
from probelet.spec.rules.runtime_kind import RuntimeKind
from probelet.spec.text.duration import MILLISECOND, SECOND
from probelet.spec.text.problem import Problem

LOOK_AGAIN_NS = 20 * SECOND
"""How late a change is found that the kernel does not announce (a network file system, no watches left). The kubelet's
fileCheckFrequency (pkg/kubelet/apis/config/v1beta1/defaults.go, 1.36)."""

LOOK_STEP_MS = 50
"""How often the watcher's thread wakes to gather announced changes; cancelling the watch waits as long."""

SetPods = Callable[[list[Manifest]], None]

log = structlog.get_logger("probelet.run")


class ManifestError(ProbeletError):
    """The manifests have mistakes; the text has one line for each problem."""


class Manifests:
    """The pods in the files and directories ``paths``.

    ``gates`` decide which fields of the pods exist. ``runtime`` is the kind of runtime for their containers. With
    ``deny_hosts`` a probe or hook that names a host is a mistake. ``node`` is the name of the node that runs the pods.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        gates: Mapping[str, bool],
        *,
        runtime: RuntimeKind,
        deny_hosts: bool = False,
        node: str = "",
    ) -> None:
        self._paths = paths
        self.objects = ObjectStore()
        """The ConfigMaps and Secrets in force."""
        self._calls = FileCalls()
        self._files = ManifestFiles(
            paths, gates, self._calls, runtime=runtime, deny_hosts=deny_hosts, node=node, objects=self.objects
        )
        self._ignored = IgnoredSummary(runtime)
        self._is_announced = True

    def first(self) -> list[Manifest]:
        """The pods to begin with. Raises ManifestError if any manifest has a mistake, so that nothing starts."""
        loaded = self._files.first()
        if loaded.errors:
            raise ManifestError("\n".join(map(str, errors_last(loaded.problems))))
        _tell(loaded.problems)
        self._tell_ignored(loaded.pods)
        return loaded.pods

    async def follow(self, set_pods: SetPods, timers: Timers) -> None:
        """Calls ``set_pods`` with the whole set of pods after each change, for ever. ``ManifestFiles`` decides which
        changes of files change the set; ``timers`` has the clock for it."""
        while True:
            try:
                await self._follow_folders(set_pods, timers)
            except (OSError, RuntimeError) as error:
                # watchfiles reports most errors of the kernel, such as no more inotify instances, as RuntimeError.
                if self._is_announced:
                    log.warning(f"changes of manifests are found every {LOOK_AGAIN_NS // SECOND} s", error=str(error))
                self._is_announced = False
                with suppress(OSError, RuntimeError):
                    await self._look(set_pods, timers)
                await timers.sleep(LOOK_AGAIN_NS)

    def _tell_ignored(self, pods: Sequence[Manifest]) -> None:
        line = self._ignored.of(pods)
        if line is not None:
            log.warning(line)

    async def _follow_folders(self, set_pods: SetPods, timers: Timers) -> None:
        """Follows the folders that are there now; returns when one is replaced, goes or comes, which needs another
        watch. Raises OSError or RuntimeError if the kernel gives no watch."""
        folders = await in_daemon_thread(self._folders)
        watch = awatch(
            *folders,
            watch_filter=only(self._paths),
            recursive=False,
            step=LOOK_STEP_MS,
            rust_timeout=LOOK_AGAIN_NS // MILLISECOND,
            yield_on_timeout=True,
        )
        async with aclosing(watch) as changes:
            # The watch begins within this turn of the loop, so no change falls between its begin and the first look.
            change = asyncio.ensure_future(anext(changes))
            await asyncio.sleep(0)
            try:
                if change.done():
                    _check(change)
                if not self._is_announced:
                    log.info("changes of manifests are found at once again")
                self._is_announced = True
                while await in_daemon_thread(self._folders) == folders:
                    if await self._look(set_pods, timers):
                        await timers.done_within(SETTLE_NS, change)
                    else:
                        await asyncio.wait([change])
                    if change.done():
                        _check(change)
                        change = asyncio.ensure_future(anext(changes))
            finally:
                change.cancel()
                await asyncio.wait([change])

    def _folders(self) -> dict[Path, tuple[int, int]]:
        """The folders to watch, without those of a path that hangs. Raises OSError if there are none."""
        found = self._calls.each(lambda path: watched_folders([path]), self._paths)
        folders = {folder: identity for of_path in found.values() for folder, identity in of_path.items()}
        if not folders:
            raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        return folders

    async def _look(self, set_pods: SetPods, timers: Timers) -> bool:
        """Looks at the files and calls ``set_pods`` if any was read; returns whether a file has yet to settle."""
        look = await in_daemon_thread(partial(self._files.look, timers.now()))
        if look.pods is not None:
            self._tell_ignored(look.pods)
        _tell(look.problems)
        if look.kept:
            log.error("these pods stay as they are until their manifests are right", pods=look.kept)
        if look.pods is not None:
            log.info("manifests read again", pods=len(look.pods))
            set_pods(look.pods)
        return look.unsettled


def _check(change: "asyncio.Future[set[tuple[Change, str]]]") -> None:
    """Raises the error of a watch that has ended: OSError or RuntimeError.

    watchfiles raises what its thread raised in an ExceptionGroup. A new file whose name is not UTF-8 ends a watch so.
    """
    try:
        change.result()
    except ExceptionGroup as group:
        raise RuntimeError("; ".join(map(str, group.exceptions))) from group


def errors_last(problems: Sequence[Problem]) -> list[Problem]:
    """The problems in the order in which a person should read them: what stops a pod stands at the end."""
    return sorted(problems, key=lambda problem: problem.severity == "error")


def _tell(problems: Sequence[Problem]) -> None:
    for problem in errors_last(problems):
        if problem.severity == "error":
            log.error(str(problem))
        else:
            log.warning(str(problem))


def watched_folders(paths: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    """The folders to watch, with the identity of each.

    A file is watched through its folder, because editors replace the file and a watch on it would go with the old one.
    A directory is watched through its parent too, because another directory may take its place. For a path that is
    gone, the nearest folder that exists is watched.
    """
    found: dict[Path, tuple[int, int]] = {}
    for path in map(Path.absolute, paths):
        for folder in (path, path.parent):
            while (identity := _identity(folder)) is None:
                folder = folder.parent
            found[folder] = identity
    return found


def _identity(folder: Path) -> tuple[int, int] | None:
    """Device and inode of a folder; None if nothing is there, or no folder."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def only(paths: Sequence[Path]) -> Callable[[Change, str], bool]:
    """The filter for announced changes: changes of the paths, inside them, and of the folders that lead to them."""
    named = [path.absolute() for path in paths]

    def concerns(_: Change, changed: str) -> bool:
        where = Path(changed)
        return where.parent in named or any(path.is_relative_to(where) for path in named)

    return concerns
