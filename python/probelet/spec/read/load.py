"""Loads manifests from files and directories: typed, defaulted, valid pods, and one problem per mistake."""

import errno
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from probelet.base.files.regular_file import read_regular
from probelet.spec.annotation.probe_changes import takes_changes
from probelet.spec.fields.ignored import Ignored, ignored_fields
from probelet.spec.fields.support import RuntimeKind
from probelet.spec.model.pod import Pod
from probelet.spec.objects.config_object import ConfigObject, Key
from probelet.spec.read.json import encode_pod
from probelet.spec.read.objects import FoundPod, Rules, read_objects
from probelet.spec.read.static_pod import with_static_uid
from probelet.spec.read.tree import TreeError
from probelet.spec.text.problem import ObjectName, Problem, Severity, go_value

# The kubelet's own limit for a manifest (pkg/kubelet/config/common.go:maxConfigLength, 1.36).
FILE_BYTES_MAX = 10 * 1024 * 1024
# Problems reported per file; a file of another kind must not fill the screen.
PROBLEMS_MAX = 50

# A file's text, or the reason why there is none.
Text: TypeAlias = str | OSError | TreeError

SUFFIXES = frozenset({".yaml", ".yml", ".json"})

STDIN = Path("/dev/stdin")
"""Standard input, which may be a pipe; ``-`` on the command line."""


class Manifest(msgspec.Struct, frozen=True):
    """A pod and its place in a file."""

    pod: Pod
    """Defaulted, valid, with a UID."""
    path: Path
    line: int
    """First line of its object in the file, from 1."""
    digest: str
    """Changes exactly when the pod changes; comments and layout do not affect it."""
    object: ObjectName | None = None
    """The Pod itself, or the workload with its template; None if no file has it."""
    ignored: tuple[Ignored, ...] = ()
    """The fields without effect on the runtime that will run the pod."""
    misspelt: tuple[str, ...] = ()
    """A line for each field of a probe, or in the place of one, that no probe has."""
    stands_for: int = 1
    """How many pods the template asks for of which this one alone is made."""
    is_live: bool = False
    """Whether its probes may change while its containers run."""


class Loaded(msgspec.Struct, frozen=True):
    """The result of loading some paths. It leaves out objects with an error; the pods of the others can run."""

    pods: list[Manifest]
    problems: list[Problem]
    objects: list[ObjectName] = []
    """The valid objects with pods, also objects that ask for no pod."""
    passed_over: Counter[str] = msgspec.field(default_factory=Counter)
    """The number of objects of kinds without use here, by kind."""
    config_objects: list[ConfigObject] = []
    """The ConfigMaps and Secrets beside the pods."""

    @property
    def errors(self) -> list[Problem]:
        """The problems of severity ``error``; each left out a pod, a document or a file."""
        return [problem for problem in self.problems if problem.severity == "error"]


class Listing(msgspec.Struct, frozen=True):
    """The manifest files behind some paths, not read yet."""

    files: dict[Path, Path]
    """Absolute path -> the name as given; a file given twice counts once."""
    problems: list[Problem]
    unread: list[Path]
    """Absolute paths that could not be listed, so their manifests are unknown."""


def load(paths: Sequence[Path], *, runtime: RuntimeKind | None = None, replicas: bool = False) -> Loaded:
    """Loads files of one or more YAML or JSON documents (pods, workloads and Lists of them), directories of such files,
    and standard input (``STDIN``).

    ``runtime`` is the kind that will run the pods: it requires a command or an image, and warns of fields without
    effect. None means that the pods will not run. A workload has one pod, with ``replicas`` as many as it asks for.
    Nothing raises for a bad input: each mistake is a problem.
    """
    listing, rules = list_manifests(paths, runtime), Rules(runtime=runtime, replicas=replicas)
    read = [read_file(name, rules) for name in listing.files.values()]
    found = unique([manifest for loaded in read for manifest in loaded.pods])
    problems = [problem for loaded in read for problem in loaded.problems]
    objects = [name for loaded in read for name in loaded.objects]
    passed_over = sum((loaded.passed_over for loaded in read), Counter[str]())
    kept = unique_objects([found for loaded in read for found in loaded.config_objects])
    problems = [*listing.problems, *problems, *found.problems, *kept.problems]
    return Loaded(found.pods, problems, objects, passed_over, kept.config_objects)


def list_manifests(paths: Sequence[Path], runtime: RuntimeKind | None = None) -> Listing:
    """The files behind ``paths``: a file is itself, a directory stands for its manifests, in order of names.

    On a CRI runtime a directory is read as the kubelet reads its static pod directory: every file in it is a manifest,
    without dot files and subdirectories (config/file.go:extractFromDir, 1.36). Elsewhere only ``*.yaml``, ``*.yml`` and
    ``*.json`` are: a pod of the embedded runtime is a program, which may lie next to its manifest.
    """
    found = {path: manifests_at(path, runtime) for path in paths}
    listing = list_found(found, runtime)
    for path in [path for path, name in listing.files.items() if name not in found and name.is_dir()]:
        del listing.files[path]
    return listing


def manifests_at(path: Path, runtime: RuntimeKind | None) -> list[Path] | str:
    """The files that ``path`` stands for, or the reason why the directory cannot be read. It looks at no file, so that
    one that hangs hangs alone; a link to a directory counts as a file here."""
    try:
        if not path.is_dir():
            return [path]
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        return str(error.strerror)
    chosen = (name for name in sorted(names) if runtime == "cri" or Path(name).suffix in SUFFIXES)
    return [path / name for name in chosen if not name.startswith(".")]


def list_found(found: Mapping[Path, list[Path] | str], runtime: RuntimeKind | None) -> Listing:
    """The listing of what ``manifests_at`` found."""
    listing = Listing({}, [], [])
    for path, names in found.items():
        if isinstance(names, str):
            listing.unread.append(path.absolute())
            listing.problems.append(Problem("error", f"cannot be read: {names}", path))
            continue
        if not names:
            which = "every file without a leading dot" if runtime == "cri" else "*.yaml, *.yml, *.json"
            message = f"no manifest in this directory ({which}; directories in it are not read)"
            listing.problems.append(Problem("warning", message, path))
        for name in names:
            listing.files.setdefault(name.absolute(), name)
    return listing


def read_file(path: Path, rules: Rules = Rules()) -> Loaded:  # noqa: B008
    """Reads the pods of one file, and its problems: ``read_pods`` of its text."""
    return read_pods(path, manifest_text(path), rules)


def read_pods(path: Path, text: Text, rules: Rules, node: str = "") -> Loaded:
    """The pods of a file's text, and its problems. Pods of the same name all stay (``unique`` drops them).

    ``path`` is the file's name for messages. ``node`` is the name of the node that will run the pods.
    """
    found = read_objects(path, text, rules)
    problems = found.problems
    if hidden := problems[PROBLEMS_MAX:]:
        severity: Severity = "error" if any(problem.severity == "error" for problem in hidden) else "warning"
        problems = [*problems[:PROBLEMS_MAX], Problem(severity, f"{len(hidden)} more problems in this file", path)]
    elif not (found.pods or found.passed_over or found.config_objects or problems):
        problems.append(Problem("warning", "no pod in this file", path))
    pods = [_manifest(pod, path, rules, node) for pod in found.pods]
    return Loaded(pods, problems, found.names, found.passed_over, found.config_objects)


def _manifest(found: FoundPod, path: Path, rules: Rules, node: str) -> Manifest:
    runtime, is_live = rules.runtime, rules.probe_changes and takes_changes(found.pod)
    pod = with_static_uid(found.pod, path, node, is_live=is_live)
    # A person looks for the fields of the manifest, and not for what --user or --stand-in puts into their place.
    written = pod if found.written is None else msgspec.structs.replace(pod, spec=found.written)
    ignored = tuple(ignored_fields(written, runtime)) if runtime is not None else ()
    digest = hashlib.sha256(encode_pod(pod)).hexdigest()
    return Manifest(pod, path, found.line, digest, found.object, ignored, found.misspelt, found.stands_for, is_live)


def unique(manifests: Sequence[Manifest]) -> Loaded:
    """Keeps the first pod of each name and UID. A later one is a problem, one for all pods of its object."""
    kept: list[Manifest] = []
    problems: list[Problem] = []
    names: dict[str, Manifest] = {}
    uids: dict[str, Manifest] = {}
    doubles: set[tuple[Path, int, ObjectName | None]] = set()
    for manifest in manifests:
        pod, place = manifest.pod, (manifest.path, manifest.line, manifest.object)
        for field, key, seen in (("metadata.name", pod.full_name, names), ("metadata.uid", pod.metadata.uid, uids)):
            if first := seen.get(key):
                if place not in doubles:
                    problems.append(_double(manifest, field, key, first))
                doubles.add(place)
                break
        else:
            names[pod.full_name] = uids[pod.metadata.uid] = manifest
            kept.append(manifest)
    return Loaded(kept, problems)


def _double(manifest: Manifest, field: str, key: str, first: Manifest) -> Problem:
    kinds = {found.object.kind for found in (first, manifest) if found.object is not None}
    other = f" ({first.object})" if len(kinds) > 1 else ""
    message = f"Duplicate value: {go_value(key)}: already defined at {first.path}:{first.line}{other}"
    return Problem("error", message, manifest.path, manifest.line, field, manifest.object)


def unique_objects(objects: Sequence[ConfigObject]) -> Loaded:
    """Keeps the first ConfigMap or Secret of each name; each later one is a problem."""
    kept: dict[Key, ConfigObject] = {}
    problems: list[Problem] = []
    for found in objects:
        first = kept.setdefault(found.key, found)
        if first is not found:
            value = go_value(f"{found.namespace}/{found.name}")
            message = f"Duplicate value: {value}: {found.kind} already defined at {first.path}:{first.line}"
            name = ObjectName(found.kind, found.namespace, found.name)
            problems.append(Problem("error", message, found.path, found.line, "metadata.name", name))
    return Loaded([], problems, config_objects=list(kept.values()))


def manifest_text(path: Path) -> Text:
    """The text of a manifest or of standard input, or the reason why it is unusable."""
    try:
        return read_manifest(path)
    except (OSError, TreeError) as error:
        return error


def read_manifest(path: Path) -> str:
    """The text of a manifest or configuration file; ``STDIN`` is standard input, read to its end. Raises ``TreeError``
    or ``OSError`` if it is unusable."""
    data = _standard_input() if path == STDIN else read_regular(path, FILE_BYTES_MAX)
    if len(data) > FILE_BYTES_MAX:
        raise TreeError(f"cannot be read: larger than {FILE_BYTES_MAX} bytes", 0)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TreeError(f"not UTF-8: byte 0x{data[error.start]:02x}", line) from None


def _standard_input() -> bytes:
    # Python has no sys.stdin if the shell closed it: probelet lint - <&-
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
