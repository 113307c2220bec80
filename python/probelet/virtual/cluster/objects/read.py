"""Reads the objects of a cluster from files, texts and objects."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from probelet.errors import ManifestError
from probelet.spec.model.disruption_budget import DisruptionBudget
from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.pod import Pod
from probelet.spec.model.service import ServiceObject
from probelet.spec.read.decode import decode_node
from probelet.spec.read.kinds import KINDS
from probelet.spec.read.load import Text, list_manifests, manifest_text, read_pods
from probelet.spec.read.objects import Rules
from probelet.spec.read.tree import Node, documents, locate
from probelet.spec.rules.scaled import scaled
from probelet.spec.text.problem import ObjectName, Problem, go_value
from probelet.virtual.cluster.objects.model import WorkloadObject
from probelet.virtual.manifests import OPT_OUT, Manifests, flat

_PERCENTAGES: Final = (
    ("spec.strategy.rollingUpdate", "maxSurge"),
    ("spec.strategy.rollingUpdate", "maxUnavailable"),
    ("spec.updateStrategy.rollingUpdate", "maxSurge"),
    ("spec.updateStrategy.rollingUpdate", "maxUnavailable"),
    ("spec", "minAvailable"),
    ("spec", "maxUnavailable"),
)
"""The fields that are a number or a percentage."""


class WorkloadManifest(msgspec.Struct, frozen=True):
    """A workload, or a pod without one."""

    kind: str
    template: Pod
    """The pod of its template, with the workload's name and namespace."""
    object: WorkloadObject


@dataclass
class Objects:
    """The objects of some manifests, in their order."""

    workloads: list[WorkloadManifest] = field(default_factory=list)
    services: list[ServiceObject] = field(default_factory=list)
    budgets: list[DisruptionBudget] = field(default_factory=list)


def read(manifests: Iterable[Manifests], *, strict: bool) -> Objects:
    """The objects of manifests. ``strict``: a warning is a mistake too.

    Raises:
        ManifestError: a manifest has a mistake, one line each.
    """
    found, problems = Objects(), list[Problem]()
    for place, text in _texts(manifests, problems):
        _read_text(place, text, found, problems)
    names: set[ObjectName] = set()
    for each in found.workloads:
        name = ObjectName(each.kind, each.template.metadata.namespace, each.template.metadata.name)
        if name in names:
            problems.append(Problem("error", f"Duplicate value: {go_value(str(name))}", object=name))
        names.add(name)
    has_error = any(problem.severity == "error" for problem in problems)
    if has_error or (strict and problems):
        lines = [str(problem) for problem in problems if strict or problem.severity == "error"]
        raise ManifestError("\n".join(lines if has_error else [*lines, OPT_OUT]))
    return found


def _texts(manifests: Iterable[Manifests], problems: list[Problem]) -> Iterator[tuple[Path, Text]]:
    for number, source in enumerate(flat(manifests)):
        match source:
            case Path():
                listing = list_manifests([source])
                problems += listing.problems
                for name in listing.files.values():
                    yield name, manifest_text(name)
            case str():
                yield Path(f"manifests[{number}]"), source
            case Mapping():
                yield Path(f"manifests[{number}]"), msgspec.json.encode(source).decode()


def _read_text(path: Path, text: Text, found: Objects, problems: list[Problem]) -> None:
    loaded = read_pods(path, text, Rules())
    problems += loaded.problems
    if loaded.errors or not isinstance(text, str):
        return
    # Every object of this text is valid; here its pod is joined with the rest of it.
    pods = iter(loaded.pods)
    for document in documents(text):
        for root in _objects(document.root):
            kind, version = root.text_of("kind"), root.text_of("apiVersion")
            decoded = _Decoded(root, path, problems)
            if kind in KINDS and KINDS[kind].version == version:
                # Each has one pod, in the same order.
                found.workloads.append(WorkloadManifest(kind, next(pods).pod, decoded.of(WorkloadObject)))
            elif kind == "Service" and version == "v1":
                found.services.append(decoded.of(ServiceObject))
            elif kind == "PodDisruptionBudget" and version.startswith("policy/"):
                found.budgets.append(decoded.of(DisruptionBudget))


class _Decoded:
    """Decodes one object. What is unknown to the partial types here was checked before, or is not read."""

    def __init__(self, root: Node, path: Path, problems: list[Problem]) -> None:
        self._root = root
        self._path = path
        self._problems = problems

    def of(self, cls: type[Any]) -> Any:
        mistakes: list[Problem] = []
        decoded = decode_node(self._root, cls, self._path, mistakes)
        self._problems += [problem for problem in mistakes if problem.severity == "error"]
        for parent, name in _PERCENTAGES:
            self._check(f"{parent}.{name}")
        return decoded

    def _check(self, field: str) -> None:
        value = _member(self._root, field)
        if isinstance(value, int | str) and not isinstance(value, bool):
            try:
                scaled(value, 1, default=0, up=True)
            except ValueError as error:
                message = f"Invalid value: {go_value(value)}: {error}"
                self._problems.append(Problem("error", message, self._path, locate(self._root, field), field))


def _member(root: Node, field: str) -> IntOrString | Any:
    node = root
    for name in field.split("."):
        if not isinstance(node.value, dict) or name not in node.value:
            return None
        node = node.value[name].node
    return node.value


def _objects(root: Node) -> Iterator[Node]:
    """The object, or the items of a List of them."""
    if not isinstance(root.value, dict):
        return
    items = root.value.get("items")
    if root.text_of("kind").endswith("List") and items is not None and isinstance(items.node.value, list):
        for item in items.node.value:
            yield from _objects(item)
    else:
        yield root
