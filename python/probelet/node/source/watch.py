"""The manifests of ``run``: read once before anything starts, and read again after each change."""

import asyncio
import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from watchfiles import Change, awatch

from probelet.base.printable import printable
from probelet.base.words import listed
from probelet.errors import ManifestError
from probelet.host.timers import Timers
from probelet.node.source.file_calls import FileCalls, in_daemon_thread
from probelet.node.source.files import SETTLE_NS, ManifestFiles
from probelet.node.source.ignored_summary import IgnoredSummary
from probelet.node.source.mistakes import Mistakes
from probelet.spec.fields.support import RuntimeKind
from probelet.spec.model.probe_options import NO_DEFAULTS, OptionDefaults
from probelet.spec.objects.config_object import ObjectStore
from probelet.spec.read.load import STDIN, Loaded, Manifest
from probelet.spec.read.objects import ChangePod
from probelet.spec.text.duration import MILLISECOND, SECOND
from probelet.spec.text.problem import Problem

LOOK_AGAIN_NS = 20 * SECOND
"""How late a change is found that the kernel does not announce (a network file system, no watches left). The kubelet's
fileCheckFrequency (pkg/kubelet/apis/config/v1beta1/defaults.go, 1.36)."""

LOOK_STEP_MS = 50
"""How often the watcher's thread wakes to gather announced changes; cancelling the watch waits as long."""

CONTAINERS_SHOWN_MAX: Final = 8
"""Containers without a program that a line names."""
KINDS_SHOWN_MAX: Final = 8
"""Kinds in the line about a start; that line has to fit a screen."""

SetPods = Callable[[list[Manifest]], None]

log = structlog.get_logger("probelet.run")


class Manifests:
    """The pods in the files and directories ``paths``, and in standard input if ``STDIN`` is one of them.

    ``gates`` decide which fields of the pods exist. ``runtime`` is the kind of runtime for their containers. With
    ``deny_hosts`` a probe or hook that names a host is a mistake. ``probe_options`` are those of probes whose pods name
    no others; None if pods may have none. With ``probe_changes`` probes of pods that ask for it may change while their
    containers run. With ``replicas`` a workload has as many pods as it asks for. ``node`` is the
    name of the node that runs the pods. ``change`` changes what they run, or as whom.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        gates: Mapping[str, bool],
        *,
        runtime: RuntimeKind,
        deny_hosts: bool = False,
        probe_options: OptionDefaults | None = NO_DEFAULTS,
        probe_changes: bool = False,
        replicas: bool = False,
        node: str = "",
        change: ChangePod | None = None,
    ) -> None:
        self._paths = [path for path in paths if path != STDIN]
        self._has_stdin = STDIN in paths
        self.objects = ObjectStore()
        """The ConfigMaps and Secrets in force."""
        self._calls = FileCalls()
        self._files = ManifestFiles(
            paths,
            gates,
            self._calls,
            runtime=runtime,
            deny_hosts=deny_hosts,
            probe_options=probe_options,
            probe_changes=probe_changes,
            replicas=replicas,
            node=node,
            objects=self.objects,
            change=change,
        )
        self._ignored = IgnoredSummary(runtime)
        self.right = asyncio.Event()
        """Set once no manifest has a mistake, as of a look after the start."""
        self._is_announced = True
        self._first = Loaded([], [])

    @property
    def mistakes(self) -> Mistakes:
        """The mistakes of the newest manifests, as of the last scan."""
        return self._files.mistakes

    def first(self, *, strict: bool = False, idle: bool = False) -> list[Manifest]:
        """The pods to begin with. A mistake costs its object and is a line of the log.

        Raises ManifestError, with a line for each problem, if there is a mistake and ``strict``; and, unless ``idle``,
        if there is no pod and no path is a directory, in which the first pod could appear.
        """
        loaded = self._files.first()
        if (strict and loaded.errors) or not (loaded.pods or idle or any(path.is_dir() for path in self._paths)):
            lines = [*map(str, errors_last(loaded.problems)), *self._without_program()]
            raise ManifestError("\n".join(lines) or f"no pod{_passed_over(loaded)}")
        _log_problems(errors_last(loaded.problems))
        for line in self._without_program():
            log.warning(line)
        self._log_ignored(loaded.pods)
        self._first = loaded
        return loaded.pods

    def announce(self) -> None:
        """Logs in one line what ``first`` took and passed over."""
        loaded = self._first
        told = {"passed_over": _counted(loaded.passed_over)} if loaded.passed_over else {}
        taken = _counted(Counter(name.kind for name in loaded.objects))
        log.info("manifests read", pods=len(loaded.pods), objects=taken, mistakes=self.mistakes.total, **told)
        if self._has_stdin and self._paths:
            log.info("standard input is read once: its pods stay, whatever changes in the other manifests")

    async def follow(self, set_pods: SetPods, timers: Timers) -> None:
        """Calls ``set_pods`` with the whole set of pods after each change, for ever. ``ManifestFiles`` decides which
        changes of files change the set; ``timers`` has the clock for it."""
        if not self._paths:
            # Standard input does not change.
            await asyncio.get_running_loop().create_future()
        while True:
            try:
                await self._follow_folders(set_pods, timers)
            except (OSError, RuntimeError) as error:
                # watchfiles reports most errors of the kernel, such as no more inotify instances, as RuntimeError.
                if self._is_announced:
                    log.warning(f"changes of manifests are found every {LOOK_AGAIN_NS // SECOND} s", error=str(error))
                self._is_announced = False
                with suppress(OSError, RuntimeError):
                    await self._scan(set_pods, timers)
                await timers.sleep(LOOK_AGAIN_NS)

    def _without_program(self) -> list[str]:
        """One line about the containers that cannot start on this machine; none if all can."""
        names = list(self._files.cannot_start)
        if not names:
            return []
        which = f"{len(names)} {'container has' if len(names) == 1 else 'containers have'} no program on this machine"
        return [
            printable(f"{which}: {listed(names, CONTAINERS_SHOWN_MAX)}; --stand-in puts a server in the place of each")
        ]

    def _log_ignored(self, pods: Sequence[Manifest]) -> None:
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
            # The watch begins within this turn of the loop, so no change falls between its begin and the first scan.
            change = asyncio.ensure_future(anext(changes))
            await asyncio.sleep(0)
            try:
                if change.done():
                    _check(change)
                if not self._is_announced:
                    log.info("changes of manifests are found at once again")
                self._is_announced = True
                while await in_daemon_thread(self._folders) == folders:
                    if await self._scan(set_pods, timers):
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

    async def _scan(self, set_pods: SetPods, timers: Timers) -> bool:
        """Looks at the files and calls ``set_pods`` if any was read; returns whether a file has yet to settle."""
        scan = await in_daemon_thread(partial(self._files.scan, timers.now()))
        if scan.pods is not None:
            self._log_ignored(scan.pods)
        _log_problems(scan.problems)
        if scan.kept:
            log.error("these pods stay as they are until their manifests are right", pods=scan.kept)
        if scan.pods is not None:
            log.info("manifests read again", pods=len(scan.pods))
            set_pods(scan.pods)
        if self.mistakes.total == 0 and not scan.unsettled:
            self.right.set()
        return scan.unsettled


def _check(change: "asyncio.Future[set[tuple[Change, str]]]") -> None:
    """Raises the error of a watch that has ended: OSError or RuntimeError.

    watchfiles raises what its thread raised in an ExceptionGroup. A new file whose name is not UTF-8 ends a watch so.
    """
    try:
        change.result()
    except ExceptionGroup as group:
        raise RuntimeError("; ".join(map(str, group.exceptions))) from group


def _counted(kinds: Counter[str]) -> str:
    """``2 Deployment, 1 Service``: the most frequent kinds first."""
    shown = kinds.most_common(KINDS_SHOWN_MAX)
    others = kinds.total() - sum(count for _, count in shown)
    texts = [f"{count} {kind}" for kind, count in shown] + ([f"{others} of other kinds"] if others else [])
    return printable(", ".join(texts) or "none")


def _passed_over(loaded: Loaded) -> str:
    return f" in the manifests (passed over: {_counted(loaded.passed_over)})" if loaded.passed_over else ""


def errors_last(problems: Sequence[Problem]) -> list[Problem]:
    """The problems in the order in which a person should read them: what stops a pod stands at the end."""
    return sorted(problems, key=lambda problem: problem.severity == "error")


def _log_problems(problems: Sequence[Problem]) -> None:
    for problem in errors_last(problems):
        if problem.severity == "error":
            log.error(str(problem))
        else:
            log.warning(problem.line_of_log)


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
