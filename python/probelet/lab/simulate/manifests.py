"""The manifests of a simulation: plain objects that advice can change, and the pod template of each workload."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from probelet.errors import ManifestError
from probelet.lab.scenario.pattern import Template
from probelet.spec.read.kinds import KINDS
from probelet.spec.read.load import Loaded, list_manifests, manifest_text, read_pods, unique
from probelet.spec.read.objects import Rules
from probelet.spec.read.tree import TreeError, documents
from probelet.spec.text.problem import Problem

Source: TypeAlias = "Path | str | Mapping[str, Any] | Iterable[Source]"
"""A file or directory, a text in YAML or JSON, an object, or several of these. A ``str`` is a text if it has a line
break or begins with ``{``, else a path."""

JOBS = frozenset({"Job", "CronJob"})
"""They run to their end, so no traffic and no fault of a scenario is about them."""


@dataclass(frozen=True)
class Workload:
    """A workload or a bare pod."""

    kind: str
    namespace: str
    name: str
    template: Template
    index: int
    """Its place among the objects."""
    path: str
    """The path of the pod's spec in the object: ``spec.template.spec``, or ``spec`` of a Pod."""

    @property
    def object(self) -> str:
        """``Kind/namespace/name``."""
        return f"{self.kind}/{self.namespace}/{self.name}"


@dataclass(frozen=True)
class Manifests:
    """The objects of some manifests, in order."""

    names: list[str]
    """The files, as the caller named them; other sources by their number."""
    objects: list[dict[str, Any]]
    workloads: list[Workload]
    warnings: list[Problem]

    def changed(self, index: int, changes: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The objects after a change of some fields of one of them, by their paths; None takes a field out."""
        found = list(self.objects)
        found[index] = copy.deepcopy(found[index])
        for path, value in changes.items():
            _set(found[index], path, value)
        return found

    def replaced(self, objects: list[dict[str, Any]]) -> "Manifests":
        """These manifests with other objects in the same places."""
        workloads: list[Workload] = []
        for index, plain in enumerate(objects):
            _add(plain, index, workloads)
        return replace(self, objects=objects, workloads=workloads)

    def named(self, names: Iterable[str]) -> dict[str, Workload]:
        """The workloads of a cluster by the names that it gives them; a name that is not here is left out."""
        known = {name: each for each in self.workloads for name in (each.name, f"{each.namespace}/{each.name}")}
        return {name: known[name] for name in names if name in known}

    def templates(self, names: Iterable[str]) -> dict[str, Template]:
        """The template of each workload of a cluster, by the name that the cluster gives it."""
        return {name: workload.template for name, workload in self.named(names).items()}


def read_manifests(sources: Iterable[Source]) -> Manifests:
    """Reads manifests.

    Raises ``ManifestError`` if there is a mistake, one line each, or no workload.
    """
    texts = list(_texts(sources))
    problems: list[Problem] = []
    objects: list[dict[str, Any]] = []
    workloads: list[Workload] = []
    read: list[Loaded] = []
    for path, text in texts:
        found = read_pods(path, text, Rules())
        read.append(found)
        problems += found.problems
        if not found.errors and isinstance(text, str):
            for plain in _objects(text):
                if plain["kind"] in JOBS:
                    continue
                _add(plain, len(objects), workloads)
                objects.append(plain)
    problems += unique([pod for found in read for pod in found.pods]).problems
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ManifestError("\n".join(map(str, errors)))
    if not workloads:
        raise ManifestError("no pod or workload that runs on and on in the manifests")
    return Manifests([str(path) for path, _ in texts], objects, workloads, problems)


def _texts(sources: Iterable[Source]) -> Iterator[tuple[Path, str | OSError | TreeError]]:
    for number, source in enumerate(_flat(sources)):
        if isinstance(source, Path):
            listing = list_manifests([source])
            for problem in listing.problems:
                if problem.severity == "error":
                    raise ManifestError(str(problem))
            for path in listing.files.values():
                yield path, manifest_text(path)
        elif isinstance(source, str):
            yield Path(f"manifests[{number}]"), source
        else:
            yield Path(f"manifests[{number}]"), msgspec.json.encode(source).decode()


def _flat(sources: Iterable[Source]) -> Iterator[Path | str | Mapping[str, Any]]:
    for each in sources:
        match each:
            case str():
                yield each if "\n" in each or each.lstrip().startswith("{") else Path(each)
            case Path() | Mapping():
                yield each
            case _:
                yield from _flat(each)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a text, the items of Lists one by one."""
    for document in documents(text):
        plain = document.root.plain()
        kind = str(plain.get("kind", ""))
        item = kind.removesuffix("List")
        if item == kind or not isinstance(plain.get("items"), list):
            yield plain
            continue
        for each in plain["items"]:
            typed = {"apiVersion": plain["apiVersion"], "kind": item} if item else {}
            yield {**typed, **each}


def _add(plain: dict[str, Any], index: int, workloads: list[Workload]) -> None:
    """Adds the workload of an object, if it is one."""
    found = read_pods(Path("object"), msgspec.json.encode(plain).decode(), Rules())
    for manifest in found.pods:
        name = manifest.object
        if name is None:
            continue
        template = KINDS[name.kind].template
        namespace = manifest.pod.metadata.namespace
        path = f"{template}.spec" if template else "spec"
        own = name.name or manifest.pod.metadata.name
        workloads.append(Workload(name.kind, namespace, own, Template(name.kind, manifest.pod), index, path))


def _set(plain: Any, path: str, value: Any) -> None:
    """Sets a field of an object by its path, such as ``spec.containers[0].livenessProbe.timeoutSeconds``."""
    *way, last = _steps(path)
    for step, following in zip(way, [*way[1:], last], strict=True):
        if isinstance(plain, dict):
            if plain.get(step) is None:
                plain[step] = [] if isinstance(following, int) else {}
            plain = plain[step]
        else:
            plain = plain[step]
    if value is None:
        plain.pop(last, None)
    else:
        plain[last] = value


def _steps(path: str) -> list[str | int]:
    found: list[str | int] = []
    for part in path.split("."):
        name, *indices = part.split("[")
        found += [name, *(int(index.rstrip("]")) for index in indices)]
    return found
