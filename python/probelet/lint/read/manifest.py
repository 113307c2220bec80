"""Reads the objects of a file into a world, and the findings that reading brings."""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from probelet.lint.finding import Finding
from probelet.lint.read.neighbours import neighbour
from probelet.lint.read.source import Source
from probelet.lint.read.text import ManifestText
from probelet.lint.read.workload import read_workload
from probelet.lint.rule import Rule
from probelet.lint.rules.manifest.pl001_not_a_manifest import RULE as NOT_A_MANIFEST
from probelet.lint.rules.manifest.pl002_template import RULE as TEMPLATE
from probelet.lint.rules.manifest.pl003_unknown_field import RULE as UNKNOWN_FIELD
from probelet.lint.rules.manifest.pl004_refused import RULE as REFUSED
from probelet.lint.rules.manifest.pl005_duplicate_field import RULE as DUPLICATE_FIELD
from probelet.lint.world.workload import LintWorkload
from probelet.lint.world.world import World
from probelet.spec.read.each_object import NotAnObject, RawObject, each_object
from probelet.spec.read.kinds import Kind
from probelet.spec.read.tree import Document, Node, TreeError, documents, members_on_way
from probelet.spec.text.problem import Problem

_UNRENDERED: Final = re.compile(r"\{\{|\$\{")
"""What a template or a shell has yet to put in: Helm's and Go's, and that of envsubst and OpenShift."""

_DUPLICATE: Final = "the mapping has this field twice, and the last one counts"


class InText(NamedTuple):
    """A workload and its place."""

    workload: LintWorkload
    root: Node
    prefix: str
    """The path of the object in its document."""
    document: Node
    text: ManifestText


@dataclass
class Read:
    """The contents of one file."""

    source: Source
    text: ManifestText | None = None
    """None if the file has no text that is YAML."""
    objects: list[InText] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unreadable: str = ""
    """Why the file cannot be read; empty if it can."""
    others: int = 0
    """Documents that are no Kubernetes objects, such as a chart's values."""
    patches: int = 0
    """Parts of objects, which kustomize merges into whole ones."""
    passed_over: int = 0
    """Objects without pods."""


def read_source(source: Source, world: World) -> Read:
    """Reads a file, adds its objects to ``world``, and names its mistakes."""
    read, text = Read(source), source.text()
    if not isinstance(text, str):
        read.unreadable = text.strerror or str(text) if isinstance(text, OSError) else str(text)
        return read
    reader = _Reader(read, ManifestText(source.name, text), world)
    try:
        for document in documents(text):
            reader.read(document)
    except TreeError as error:
        # The part that could not be read might have changed the meaning of the objects before it.
        broken = Read(source)
        broken.findings.append(_broken(source, text, error))
        return broken
    read.text = reader.text
    return read


def _broken(source: Source, text: str, error: TreeError) -> Finding:
    rule, message = NOT_A_MANIFEST, str(error)
    if "{{" in text:
        rule = TEMPLATE
        message = (
            f"not linted, because a template has to be rendered first: helm template CHART | probelet lint - ({error})"
        )
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        object="",
        path="",
        file=source.name,
        line=max(error.line, 1),
        column=1,
        message=message,
    )


class _Reader:
    """Reads documents into ``read`` and ``world``."""

    def __init__(self, read: Read, text: ManifestText, world: World) -> None:
        self._read = read
        self._world = world
        self.text = text

    def read(self, document: Document) -> None:
        """Takes the objects of a document."""
        root = document.root
        found = list(each_object(root))
        if all(isinstance(each, NotAnObject) and each.reason in ("value", "kind") for each in found):
            # A chart's values or the configuration of some tool: only a person who names the file means an object.
            self._read.others += 1
            return
        for line, path in document.duplicates:
            self._report(DUPLICATE_FIELD, Problem("error", _DUPLICATE, None, line, path), root)
        for each in found:
            if isinstance(each, NotAnObject):
                self._report(REFUSED, Problem("error", each.message, None, each.line, each.field), root)
            elif (kind := each.with_pods) is not None:
                self._workload(each, kind, root)
            else:
                self._neighbour(each)

    def _neighbour(self, raw: RawObject) -> None:
        self._read.passed_over += 1
        self._world.kinds.add(raw.kind)
        if raw.kind == "ConfigMap":
            *_, last = members_on_way(raw.root, "metadata")
            self._world.config_maps.add((last.node.text_of("namespace"), last.node.text_of("name")))
        found = neighbour(raw)
        if found is not None:
            self._world.neighbours.append(found)

    def _workload(self, raw: RawObject, kind: Kind, document: Node) -> None:
        found = read_workload(raw, kind, self._read.source.path, self._world)
        if found is None:
            self._read.patches += 1
            return
        self._world.kinds.add(raw.kind)
        workload = found.workload
        self._world.workloads.append(workload)
        self._read.objects.append(InText(workload, raw.root, raw.prefix, document, self.text))
        for problem in found.unknown:
            self._report(UNKNOWN_FIELD, problem, document, workload.label, raw.prefix)
        for problem in found.refused:
            self._report(REFUSED, problem, document, workload.label, raw.prefix)

    def _report(self, rule: Rule, problem: Problem, document: Node, label: str = "", prefix: str = "") -> None:
        """Adds the finding of a problem whose field is a path in the document."""
        *_, last = members_on_way(document, problem.field)
        position = self.text.position(last.start, last.line)
        if isinstance(last.node.value, str) and _UNRENDERED.search(last.node.value):
            rule = TEMPLATE
        self._read.findings.append(
            Finding(
                rule=rule.id,
                severity=rule.severity,
                object=label,
                path=problem.field.removeprefix(prefix).removeprefix("."),
                file=self._read.source.name,
                line=position.line,
                column=position.column,
                message=problem.message,
            )
        )
