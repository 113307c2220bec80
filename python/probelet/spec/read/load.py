"""Loads manifests from files and directories: typed, defaulted, valid pods, and one problem per mistake."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from probelet.files.regular_file import read_regular
from probelet.spec.annotation.backoff import chosen_curves
from probelet.spec.annotation.initialization import fold_annotation
from probelet.spec.annotation.release_on import dependencies
from probelet.spec.fields.ignored import Ignored, ignored_fields
from probelet.spec.model.pod import Pod
from probelet.spec.objects.config_object import ConfigObject, Key
from probelet.spec.objects.read import KINDS, read_object
from probelet.spec.read.decode import decode_node, report_duplicates
from probelet.spec.read.json import encode_pod
from probelet.spec.read.static_pod import with_static_uid
from probelet.spec.read.tree import Document, Node, TreeError, documents, locate
from probelet.spec.rules.defaults import set_defaults
from probelet.spec.rules.host_rule import denied_hosts
from probelet.spec.rules.needed import missing_programs, require_command, require_image
from probelet.spec.rules.runtime_kind import RuntimeKind
from probelet.spec.rules.security.admission import denied_fields
from probelet.spec.rules.unresolved import unresolved_ports
from probelet.spec.rules.unsupported import unsupported_fields
from probelet.spec.rules.validate import validate
from probelet.spec.text.problem import FieldError, Problem, Severity, go_value, shorten

# The kubelet's own limit for a manifest (pkg/kubelet/config/common.go:maxConfigLength, 1.36).
FILE_BYTES_MAX = 10 * 1024 * 1024
# Problems reported per file; a file of another kind must not fill the screen.
PROBLEMS_MAX = 50

# A file's text, or the reason why there is none.
Text: TypeAlias = str | OSError | TreeError
# Finds the programs of a pod that this machine lacks.
MissingPrograms: TypeAlias = Callable[[Pod], list[FieldError]]

SUFFIXES = frozenset({".yaml", ".yml", ".json"})


class Manifest(msgspec.Struct, frozen=True):
    """A pod and its place in a file."""

    pod: Pod
    """Defaulted, valid, with a UID."""
    path: Path
    line: int
    """First line of the pod in the file, from 1."""
    digest: str
    """Changes exactly when the pod changes; comments and layout do not affect it."""
    ignored: tuple[Ignored, ...] = ()
    """The fields without effect on the runtime that will run the pod."""


class Loaded(msgspec.Struct, frozen=True):
    """The result of loading some paths. It leaves out pods with an error; the others can run."""

    pods: list[Manifest]
    problems: list[Problem]
    objects: list[ConfigObject] = []
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


def load(paths: Sequence[Path], *, runtime: RuntimeKind | None = None) -> Loaded:
    """Loads files of one or more YAML or JSON documents (Pod, or a List of them), and directories of such files.

    ``runtime`` is the kind that will run the pods: it requires a command or an image, and warns of fields without
    effect. None means that the pods will not run. Nothing raises for a bad input: each mistake is a problem.
    """
    listing = list_manifests(paths, runtime)
    read = [read_file(name, runtime=runtime) for name in listing.files.values()]
    found = unique([manifest for loaded in read for manifest in loaded.pods])
    problems = [problem for loaded in read for problem in loaded.problems]
    kept = unique_objects([found for loaded in read for found in loaded.objects])
    return Loaded(found.pods, [*listing.problems, *problems, *found.problems, *kept.problems], kept.objects)


def list_manifests(paths: Sequence[Path], runtime: RuntimeKind | None = None) -> Listing:
    """The files behind ``paths``: a file is itself, a directory stands for its manifests, in order of names.

    On a CRI runtime a directory is read as the kubelet reads its static pod directory: every file in it is a manifest,
    without dot files and subdirectories (config/file.go:extractFromDir, 1.36). Elsewhere only ``*.yaml``, ``*.yml`` and
    ``*.json`` are: a pod of the process runtime is a program, which may lie next to its manifest.
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


def read_file(path: Path, *, runtime: RuntimeKind | None = None, deny_hosts: bool = False) -> Loaded:
    """Reads the pods of one file, and its problems: ``read_pods`` of its text."""
    return read_pods(path, manifest_text(path), runtime=runtime, deny_hosts=deny_hosts)


def read_pods(
    path: Path,
    text: Text,
    *,
    runtime: RuntimeKind | None = None,
    deny_hosts: bool = False,
    missing: MissingPrograms = missing_programs,
    node: str = "",
) -> Loaded:
    """The pods of a file's text, and its problems. Pods of the same name all stay (``unique`` drops them).

    ``path`` is the file's name for messages. ``deny_hosts`` makes a host in a probe or hook a mistake.
    ``node`` is the name of the node that will run the pods.
    """
    problems: list[Problem] = []
    objects: list[ConfigObject] = []
    pods = _Reader(path, problems, objects, runtime, deny_hosts, missing, node).manifests(text)
    if hidden := problems[PROBLEMS_MAX:]:
        severity: Severity = "error" if any(problem.severity == "error" for problem in hidden) else "warning"
        problems = [*problems[:PROBLEMS_MAX], Problem(severity, f"{len(hidden)} more problems in this file", path)]
    elif not pods and not objects and not problems:
        problems.append(Problem("warning", "no pod in this file", path))
    return Loaded(pods, problems, objects)


def unique(manifests: Sequence[Manifest]) -> Loaded:
    """Keeps the first pod of each name and UID; each later one is a problem."""
    kept: list[Manifest] = []
    problems: list[Problem] = []
    names: dict[str, Manifest] = {}
    uids: dict[str, Manifest] = {}
    for manifest in manifests:
        pod = manifest.pod
        for field, key, seen in (("metadata.name", pod.full_name, names), ("metadata.uid", pod.metadata.uid, uids)):
            if first := seen.get(key):
                message = f"Duplicate value: {go_value(key)}: already defined at {first.path}:{first.line}"
                problems.append(Problem("error", message, manifest.path, manifest.line, field))
                break
        else:
            names[pod.full_name] = uids[pod.metadata.uid] = manifest
            kept.append(manifest)
    return Loaded(kept, problems)


def unique_objects(objects: Sequence[ConfigObject]) -> Loaded:
    """Keeps the first ConfigMap or Secret of each name; each later one is a problem."""
    kept: dict[Key, ConfigObject] = {}
    problems: list[Problem] = []
    for found in objects:
        first = kept.setdefault(found.key, found)
        if first is not found:
            value = go_value(f"{found.namespace}/{found.name}")
            message = f"Duplicate value: {value}: {found.kind} already defined at {first.path}:{first.line}"
            problems.append(Problem("error", message, found.path, found.line, "metadata.name"))
    return Loaded([], problems, list(kept.values()))


def manifest_text(path: Path) -> Text:
    """The text of a manifest, or the reason why it is unusable."""
    try:
        return read_manifest(path)
    except (OSError, TreeError) as error:
        return error


def read_manifest(path: Path) -> str:
    """The text of a manifest or configuration file. Raises ``TreeError`` or ``OSError`` if it is unusable."""
    data = read_regular(path, FILE_BYTES_MAX)
    if len(data) > FILE_BYTES_MAX:
        raise TreeError(f"cannot be read: larger than {FILE_BYTES_MAX} bytes", 0)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TreeError(f"not UTF-8: byte 0x{data[error.start]:02x}", line) from None


class _Reader:
    """Reads one file; appends each mistake to ``problems``, each ConfigMap and Secret to ``objects``."""

    def __init__(
        self,
        path: Path,
        problems: list[Problem],
        objects: list[ConfigObject],
        runtime: RuntimeKind | None,
        deny_hosts: bool,
        missing: MissingPrograms,
        node: str,
    ) -> None:
        self._path = path
        self._problems = problems
        self._objects = objects
        self._runtime = runtime
        self._deny_hosts = deny_hosts
        self._missing = missing
        self._node = node

    def manifests(self, text: Text) -> list[Manifest]:
        """The pods of the file; none if its end is unreadable, because the rest could have changed their meaning."""
        try:
            if not isinstance(text, str):
                raise text
            return [manifest for document in documents(text) for manifest in self._document(document)]
        except OSError as error:
            self._report("error", f"cannot be read: {error.strerror}")
        except TreeError as error:
            self._report("error", str(error), error.line)
        except Exception as error:
            # A mistake of ours that one manifest brings to light must not end the pods of all others.
            self._report("error", f"cannot be read: {type(error).__name__}: {error}")
        return []

    def _report(self, severity: Severity, message: str, line: int = 0, field: str = "") -> None:
        self._problems.append(Problem(severity, message, self._path, line, field))

    def _document(self, document: Document) -> Iterator[Manifest]:
        report_duplicates(document, self._path, self._problems)
        yield from self._object(document.root, "")

    def _object(self, root: Node, prefix: str) -> Iterator[Manifest]:
        """Yields the pod, or the pods of a List; reports anything else."""
        if not isinstance(root.value, dict):
            self._report("error", f"{_shown(root)} is not a Kubernetes object", root.line, prefix)
            return
        version, kind = root.text_of("apiVersion"), root.text_of("kind")
        if version == "v1" and kind in KINDS:
            self._objects += read_object(root, kind, prefix, self._path, self._problems)
            return
        if version != "v1" or kind not in ("Pod", "List", "PodList"):
            field = f"{prefix}.kind".removeprefix(".")
            value = shorten(go_value(f"{version} {kind}".strip()))
            message = f"Unsupported value: {value}: must be v1 Pod or v1 List (apiVersion and kind)"
            self._report("error", message, locate(root, "kind"), field)
        elif kind == "Pod":
            yield from self._pod(root, prefix)
        else:
            yield from self._items(root, prefix)

    def _items(self, root: Node, prefix: str) -> Iterator[Manifest]:
        items = root.value["items"].node if isinstance(root.value, dict) and "items" in root.value else None
        field = f"{prefix}.items".removeprefix(".")
        if items is None or not isinstance(items.value, list):
            self._report("error", "Required value: must be a list of pods", root.line, field)
            return
        for index, item in enumerate(items.value):
            yield from self._object(item, f"{field}[{index}]")

    def _pod(self, root: Node, prefix: str) -> Iterator[Manifest]:
        found: list[Problem] = []
        pod, errors = fold_annotation(decode_node(root, Pod, self._path, found, prefix))
        mistyped = {problem.field for problem in found if problem.severity == "error"}
        pod = set_defaults(pod)
        errors += validate(pod) + unsupported_fields(pod) + chosen_curves(pod)[1] + dependencies(pod)[1]
        if self._deny_hosts:
            errors += denied_hosts(pod)
        warnings = unresolved_ports(pod)
        if self._runtime == "process":
            errors += require_command(pod)
            warnings += self._missing(pod)
        elif self._runtime == "cri":
            errors += require_image(pod) + denied_fields(pod)
        problems = [self._located(root, prefix, error, "error") for error in errors]
        problems += [self._located(root, prefix, error, "warning") for error in warnings]
        found += [problem for problem in problems if not _echoes(problem, mistyped)]
        self._problems.extend(sorted(found, key=lambda problem: problem.line))
        if not any(problem.severity == "error" for problem in found):
            pod = with_static_uid(pod, self._path, self._node)
            ignored = tuple(ignored_fields(pod, self._runtime)) if self._runtime is not None else ()
            yield Manifest(pod, self._path, root.line, hashlib.sha256(encode_pod(pod)).hexdigest(), ignored)

    def _located(self, root: Node, prefix: str, error: FieldError, severity: Severity) -> Problem:
        return self._placed(root, prefix, Problem(severity, error.shortened().body, field=error.path))

    def _placed(self, root: Node, prefix: str, problem: Problem) -> Problem:
        """Attaches the file, and the line of the problem's field."""
        field = f"{prefix}.{problem.field}".removeprefix(".")
        return msgspec.structs.replace(problem, path=self._path, line=locate(root, problem.field), field=field)


def _echoes(problem: Problem, mistyped: set[str]) -> bool:
    """True if ``problem`` follows from a field in ``mistyped``: decoding left that field unset and reported it."""
    inside = any(problem.field == field or problem.field.startswith((f"{field}.", f"{field}[")) for field in mistyped)
    around = problem.message.startswith("Required value") and any(
        field.startswith(f"{problem.field}.") for field in mistyped
    )
    return inside or around


def _shown(node: Node) -> str:
    return shorten(go_value(node.plain()))
