"""Decides which pods are in force while their files change. The time is an argument.

1. A file is read once it has not changed for ``SETTLE_NS`` and no process has it open for writing. Until then
   its last pods are in force: a half-written manifest must not end its pod.
2. A file with a mistake ends no pod. The pods of its valid objects are taken; pods of objects that it held before and
   does not name now stay. From a file that is not YAML nothing is taken. A file without objects ends no pod either,
   because it may be empty for a moment. To end a pod, remove the file, or remove the pod from a file that holds other
   objects and has no mistake. (The kubelet ends the pod of a file it cannot use when it lists the directory next,
   pkg/kubelet/config/file.go:extractFromDir, 1.36.)
3. If two files hold pods of the same name, the pod in force stays.
4. A file or directory on which a call of the file system hangs keeps its pods; the other files are read.
5. The ConfigMaps and Secrets of a file are held as its pods are. A container has what is in force when it starts.
6. A file that is gone, alone or with its directory, holds nothing (pkg/kubelet/config/file.go:listConfig, 1.36).
7. Standard input is read once, before the files.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from probelet.node.source.file_calls import HANGING_MAX, FileCalls
from probelet.node.source.lease import being_written
from probelet.node.source.mistakes import Mistakes, bounded, mistakes
from probelet.node.source.stamp import FOLDER, UNSEEN, Stamp, stamp_of
from probelet.spec.fields.support import RuntimeKind
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe_options import NO_DEFAULTS, OptionDefaults
from probelet.spec.objects.config_object import ConfigObject, ObjectStore
from probelet.spec.read.load import (
    STDIN,
    Listing,
    Loaded,
    Manifest,
    Text,
    list_found,
    manifest_text,
    manifests_at,
    read_pods,
    unique,
    unique_objects,
)
from probelet.spec.read.objects import ChangePod, Rules
from probelet.spec.rules.disabled import drop_disabled_fields
from probelet.spec.rules.needed import cannot_start, missing_programs
from probelet.spec.text.duration import MILLISECOND
from probelet.spec.text.problem import FieldError, ObjectName, Problem

SETTLE_NS = 250 * MILLISECOND
"""An editor or a shell takes less between removing or emptying a file and writing it anew."""


@dataclass
class _File:
    name: Path
    """The path as given on the command line."""
    read: Stamp | None = None
    """The stamp of the version that was read; None if the file holds nothing."""
    seen: Stamp | None = None
    """The stamp of the newest version, first seen at ``since``."""
    since: int = 0
    pods: list[Manifest] = field(default_factory=list)
    kept: dict[str, Problem] = field(default_factory=dict)
    """By namespace/name, pods of an earlier version that stay, and why the newest one has none in their place."""
    errors: list[Problem] = field(default_factory=list)
    """The mistakes of the newest version, bounded."""
    passed_over: Counter[str] = field(default_factory=Counter)
    config_objects: list[ConfigObject] = field(default_factory=list)


class Scan(msgspec.Struct, frozen=True):
    """The result of reading the files once."""

    pods: list[Manifest] | None
    """The whole set in force; None when no file was read."""
    problems: list[Problem]
    """The problems that were not reported before."""
    kept: list[str]
    """Names of pods that stay as they are although their file has changed, because it has a mistake."""
    unsettled: bool
    """A change waits for its file to settle: look again in ``SETTLE_NS``."""


class ManifestFiles:
    """The manifests of some files and directories.

    ``gates`` decide which fields exist; ``runtime``, ``deny_hosts``, ``probe_options``,
    ``probe_changes``, ``replicas`` and ``node`` are
    those of ``read_pods``; ``objects`` gets the ConfigMaps and Secrets. ``first`` is called before ``scan``.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        gates: Mapping[str, bool],
        calls: FileCalls,
        *,
        runtime: RuntimeKind,
        deny_hosts: bool = False,
        probe_options: OptionDefaults | None = NO_DEFAULTS,
        probe_changes: bool = False,
        replicas: bool = False,
        node: str = "",
        objects: ObjectStore | None = None,
        change: ChangePod | None = None,
    ) -> None:
        self.cannot_start: dict[str, None] = {}
        """The containers that had no program on this machine when they were read, ``pod/container``, in order."""
        self.mistakes = Mistakes()
        """The mistakes of the newest versions, as of the last scan."""
        self._objects = objects or ObjectStore()
        self._paths = [path for path in paths if path != STDIN]
        self._stdin = [_File(STDIN)] if STDIN in paths else []
        self._calls = calls
        self._gates = gates
        self._runtime: RuntimeKind = runtime
        self._rules = Rules(
            runtime=runtime,
            deny_hosts=deny_hosts,
            missing=self._missing_programs,
            replicas=replicas,
            probe_options=probe_options,
            probe_changes=probe_changes,
            change=change,
        )
        self._node = node
        # By absolute path, in the order in which pods are started.
        self._files: dict[Path, _File] = {}
        # By namespace/name.
        self._in_force: dict[str, Manifest] = {}
        self._doubles: list[Problem] = []
        # The problems of the set as a whole that were reported.
        self._standing: set[Problem] = set()

    def first(self) -> Loaded:
        """Reads everything as it is now."""
        problems: list[Problem] = []
        for file in self._stdin:
            # The program that writes it may take its time.
            problems += self._begin(file, manifest_text(STDIN))
        listing = self._list()
        stamps = self._stamps(listing)
        texts = self._calls.each(manifest_text, stamps)
        listing.problems.extend(self._hanging({path: self._files[path].name for path in stamps if path not in texts}))
        for path, text in texts.items():
            file = self._files[path]
            file.read = file.seen = stamps[path]
            problems += self._begin(file, text)
        self._choose()
        standing = [*listing.problems, *self._doubles]
        self._standing = set(standing)
        self._note_mistakes(listing.problems)
        pods, passed_over = list(self._in_force.values()), Counter[str]()
        for file in self._all():
            passed_over += file.passed_over
        return Loaded(pods, [*listing.problems, *problems, *self._doubles], _objects(pods), passed_over)

    def _begin(self, file: _File, text: Text) -> list[Problem]:
        """Takes the first version of a file; returns its problems."""
        loaded = self._load(file.name, text)
        file.pods, file.config_objects = loaded.pods, loaded.config_objects
        self._note(file, loaded)
        return loaded.problems

    def _all(self) -> list[_File]:
        return [*self._stdin, *self._files.values()]

    def scan(self, now: int) -> Scan:
        """Reads the files that have changed and settled; ``now`` is in nanoseconds of a monotonic clock."""
        listing = self._list()
        problems: list[Problem] = []
        kept: list[str] = []
        stamps = self._stamps(listing)
        changed = self._changed(stamps, now)
        settled = [path for path in changed if now - self._files[path].since >= SETTLE_NS]
        texts = self._calls.each(self._settled_text, settled)
        listing.problems.extend(self._hanging({path: self._files[path].name for path in settled if path not in texts}))
        unsettled = len(settled) < len(changed)
        read: set[Path] = set()
        for path, text in texts.items():
            if text is None:
                unsettled = True
                continue
            file = self._files[path]
            loaded = self._load(file.name, text) if file.seen is not None else Loaded([], [])
            problems += loaded.problems
            kept += self._take(file, loaded)
            read.add(file.name)
        if read:
            self._choose()
        standing = self._still_wrong(listing, stamps, unsettled)
        problems += [problem for problem in standing if problem not in self._standing or problem.path in read]
        self._standing = set(standing)
        self._note_mistakes([problem for problem in standing if problem not in self._doubles])
        return Scan(list(self._in_force.values()) if read else None, problems, kept, unsettled)

    def _list(self) -> Listing:
        found = self._calls.each(self._manifests_at, self._paths)
        return list_found({path: found.get(path, self._no_answer) for path in self._paths}, self._runtime)

    def _manifests_at(self, path: Path) -> list[Path] | str:
        return manifests_at(path, self._runtime)

    @property
    def _no_answer(self) -> str:
        return f"no answer within {self._calls.seconds:g} s"

    def _hanging(self, names: Mapping[Path, Path]) -> list[Problem]:
        """The problems of files on which a call hangs, and one if so many calls hang that other files are not read."""
        hanging = [name for path, name in names.items() if self._calls.hangs(path)]
        problems = [Problem("error", f"cannot be read: {self._no_answer}", name) for name in hanging]
        if len(hanging) < len(names):
            message = (
                f"{HANGING_MAX} calls of the file system hang: other files are not read before one of them returns"
            )
            problems.append(Problem("error", message))
        return problems

    def _load(self, name: Path, text: Text) -> Loaded:
        return read_pods(name, text, self._rules, self._node)

    def _missing_programs(self, pod: Pod) -> list[FieldError]:
        """``missing_programs``, or none if looking for them hangs: a pod may name a program on any file system."""

        def look(_: str) -> tuple[list[FieldError], list[str]]:
            return missing_programs(pod), cannot_start(pod)

        found = self._calls.each(look, [f"programs of {pod.full_name}"])
        missing, without = next(iter(found.values()), ([], []))
        self.cannot_start |= dict.fromkeys(without)
        return missing

    def _stamps(self, listing: Listing) -> dict[Path, Stamp | None]:
        """Current stamps of all files that are or were listed. A file of an unreadable directory, and a file that
        hangs, keeps its last stamp. What turns out to be a directory is no file."""
        known = {path: self._files.get(path, _File(name)) for path, name in listing.files.items()}
        stamps: dict[Path, Stamp | None] = dict(self._calls.each(stamp_of, known))
        listing.problems.extend(self._hanging({path: known[path].name for path in known if path not in stamps}))
        for path in [path for path, stamp in stamps.items() if stamp is FOLDER]:
            del known[path], stamps[path]
        for path, file in self._files.items():
            if path not in known and file.read is not None:
                known[path] = file
                stamps[path] = file.read if {path, path.parent} & set(listing.unread) else None
        self._files = known
        return stamps

    def _changed(self, stamps: Mapping[Path, Stamp | None], now: int) -> list[Path]:
        """The files whose stamp is not that of the version that was read."""
        changed = []
        for path, stamp in stamps.items():
            file = self._files[path]
            if stamp == file.read:
                file.seen = stamp
                continue
            if stamp != file.seen:
                file.seen, file.since = stamp, now
            changed.append(path)
        return changed

    def _settled_text(self, path: Path) -> Text | None:
        """The text of a changed file, empty if it is gone; None while it may be half-written."""
        seen = self._files[path].seen
        if seen is None:
            return ""
        if being_written(path):
            return None
        text = manifest_text(path)
        # A process may have begun to write while the file was read.
        return None if being_written(path) or stamp_of(path) != seen else text

    def _take(self, file: _File, loaded: Loaded) -> list[str]:
        """Stores the pods of one file; returns the names of the pods that stay because the file has a mistake."""
        file.read = file.seen
        self._note(file, loaded)
        if file.seen is None or ((loaded.objects or loaded.config_objects or loaded.passed_over) and not loaded.errors):
            file.pods, file.config_objects = loaded.pods, loaded.config_objects
            return []
        keys = {found.key for found in loaded.config_objects}
        file.config_objects = [*loaded.config_objects, *(held for held in file.config_objects if held.key not in keys)]
        named = set(loaded.objects)
        staying = [held for held in file.pods if held.object not in named]
        file.pods = [*loaded.pods, *staying]
        file.kept = {held.pod.full_name: _why(held, loaded.problems) for held in staying if self._owns(held)}
        return list(file.kept)

    def _note(self, file: _File, loaded: Loaded) -> None:
        file.errors = [bounded(problem) for problem in loaded.errors]
        file.kept = {}
        file.passed_over = loaded.passed_over

    def _note_mistakes(self, listed: Iterable[Problem]) -> None:
        """Publishes the mistakes; ``listed`` are problems of directories and of files that could not be read at all."""
        files = self._all()
        errors = [error for file in files for error in file.errors]
        errors += [bounded(problem) for problem in listed if problem.severity == "error"]
        kept = {name: problem for file in files for name, problem in file.kept.items()}
        self.mistakes = mistakes(errors, [bounded(problem) for problem in self._doubles], kept)

    def _owns(self, manifest: Manifest) -> bool:
        """Whether the pod in force under a manifest's name comes from the same file."""
        in_force = self._in_force.get(manifest.pod.full_name)
        return in_force is not None and in_force.path == manifest.path

    def _choose(self) -> None:
        """Puts one pod of each name in force."""
        held = [manifest for file in self._all() for manifest in file.pods]
        chosen = unique(sorted(held, key=lambda manifest: not self._owns(manifest)))
        self._in_force = {manifest.pod.full_name: self._admitted(manifest) for manifest in chosen.pods}
        objects = unique_objects([found for file in self._all() for found in file.config_objects])
        self._objects.objects = {found.key: found for found in objects.config_objects}
        self._doubles = chosen.problems + objects.problems

    def _admitted(self, manifest: Manifest) -> Manifest:
        """The manifest without fields whose gate is off, unless the pod in force under its name has them (KEP-2238)."""
        old = self._in_force.get(manifest.pod.full_name)
        return replace(manifest, pod=drop_disabled_fields(manifest.pod, old.pod if old else None, self._gates))

    def _still_wrong(self, listing: Listing, stamps: Mapping[Path, Stamp | None], unsettled: bool) -> list[Problem]:
        """The problems of the set as a whole, without paths that are gone for a moment only."""
        gone = [
            Problem("warning", "is gone: it holds no pods", path)
            for path in self._paths
            if stamps.get(path.absolute(), UNSEEN) is None
        ]
        fleeting = [*listing.problems, *gone]
        return self._doubles + [
            problem for problem in fleeting if problem.severity == "error" or not unsettled or problem in self._standing
        ]


def _objects(pods: Iterable[Manifest]) -> list[ObjectName]:
    """The objects that the pods come from, each once."""
    found = {(pod.path, pod.line, pod.object): pod.object for pod in pods}
    return [name for name in found.values() if name is not None]


def _why(held: Manifest, problems: Sequence[Problem]) -> Problem:
    """Why a pod of a file's earlier version stays: the first problem of the pod's object, else of the file."""
    errors = [problem for problem in problems if problem.severity == "error"]
    of_the_object = [problem for problem in errors if problem.object == held.object]
    of_the_file = [problem for problem in errors if problem.object is None]
    return bounded([*of_the_object, *of_the_file, *errors, *problems][0])
