"""Reads the objects of a file into a scope, and the findings that reading brings."""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from probelet.lint.finding import Finding
from probelet.lint.model.workload import LintWorkload, Scope
from probelet.lint.read.kustomization import Kustomizations
from probelet.lint.read.neighbours import neighbour
from probelet.lint.read.source import Source
from probelet.lint.read.text import ManifestText
from probelet.lint.read.workload import ReadWorkload, read_workload
from probelet.lint.rule import Rule
from probelet.lint.rules.manifest.pl001_not_a_manifest import RULE as NOT_A_MANIFEST
from probelet.lint.rules.manifest.pl002_template import RULE as TEMPLATE
from probelet.lint.rules.manifest.pl003_unknown_field import RULE as UNKNOWN_FIELD
from probelet.lint.rules.manifest.pl004_refused import RULE as REFUSED
from probelet.lint.rules.manifest.pl005_duplicate_field import RULE as DUPLICATE_FIELD
from probelet.spec.read.each_object import NotAnObject, RawObject, each_object
from probelet.spec.read.kinds import KINDS, Kind
from probelet.spec.read.tree import Document, Node, TreeError, documents, members_on_way
from probelet.spec.text.problem import Problem

_UNRENDERED: Final = re.compile(
    r"\{\{|\[\[|\(\(|[$#%]\{|\$\([\w.-]+\)|\$[A-Z_][A-Z0-9_]*|%[A-Za-z]\w*%|@[A-Za-z]\w*@|__[A-Za-z]\w*__|"
    r"^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$|^RELEASE-NAME\b|<[A-Za-z][^<>]*>|(?i:change[_-]?me|replace[_-]?me|^todo$|^your[_-])"
)
"""Texts that a program or a person has yet to replace: Go templates, variables of kustomize, envsubst, Flux and
OpenShift, the marks of pipelines, ``<your name>``, ``IMAGE_URL``, and Helm's name for a release without one."""

_IN_TEXT: Final = re.compile(r"\{\{|\{%|<%|@[A-Z][A-Z0-9_]*@|^[^\S\n]*+\$\{?[A-Z][A-Z0-9_]*\}?[^\S\n]*+$", re.MULTILINE)
"""The marks of a template in a text that is no YAML: those of Go, Jinja and ERB, a placeholder as ``@NODE_NAME@``, or a
variable on a line of its own."""

_OF_A_CHART: Final = re.compile(r"\{\{[^{}]*(\.(Values|Release|Chart|Capabilities)\b|\b(include|template)\s+\")")
"""A value or a function that only a template of Helm's asks for. Others have the same braces."""

_OBJECT: Final = re.compile(r"""^(?:[^\S\n]|[{,"'-])*+(apiVersion|kind)["']?\s*+:""", re.MULTILINE)
"""A key that every Kubernetes object has."""

_PATCH: Final = re.compile(r"(^|/)(patch(es)?/[^/]*|([^/]*[._-])?patch(es)?([._-][^/]*)?)$", re.IGNORECASE)
"""The name of a patch or of its directory, where no kustomization names it."""

_DUPLICATE: Final = "the mapping has this field twice, and the last one counts"


class InText(NamedTuple):
    """A workload and its place."""

    workload: LintWorkload
    root: Node
    document: int
    """The number of its document in the text, from 0."""
    prefix: str
    """The path of the object in its document."""
    text: ManifestText


class Placed(NamedTuple):
    """A finding and its field in a tree: comments on the way to the field may suppress it."""

    finding: Finding
    root: Node | None = None
    """The document or object; None for a finding that nothing suppresses."""
    path: str = ""
    """From ``root`` on."""


@dataclass
class Read:
    """The contents of one file."""

    source: Source
    text: ManifestText | None = None
    """None if the file has no text."""
    roots: list[Node] = field(default_factory=list)
    """Its documents."""
    objects: list[InText] = field(default_factory=list)
    findings: list[Placed] = field(default_factory=list)
    unreadable: str = ""
    """Why the file cannot be read; empty if it can."""
    others: int = 0
    """Documents that are no Kubernetes objects, such as a chart's values."""
    patches: int = 0
    """Parts of objects, which kustomize merges into whole ones."""


def read_source(source: Source, scope: Scope, kustomizations: Kustomizations | None = None) -> Read:
    """Reads a file, adds its objects to ``scope``, and names its mistakes."""
    read, text = Read(source), source.text()
    if not isinstance(text, str):
        read.unreadable = f"cannot be read: {text.strerror}" if isinstance(text, OSError) else str(text)
        return read
    read.text = ManifestText(source.name, text)
    try:
        # All of it first: the part that cannot be read might change the meaning of the objects before it.
        found = list(documents(text))
    except TreeError as error:
        if source.is_named or _OBJECT.search(text) is not None:
            read.findings.append(Placed(_broken(source, text, error)))
        else:
            # Another tool's file, and no mistake: many have tags of their own, and a JSON file may have a value a line.
            read.others += 1
        return read
    reader = _Reader(read, read.text, scope, (kustomizations or Kustomizations()).patched_by(source.path))
    for document in found:
        read.roots.append(document.root)
        reader.read(document)
    return read


def _broken(source: Source, text: str, error: TreeError) -> Finding:
    rule, message = NOT_A_MANIFEST, str(error)
    if _IN_TEXT.search(text):
        how = ": helm template CHART | probelet lint -" if _OF_A_CHART.search(text) else " and lint what it gives"
        rule, message = TEMPLATE, f"as it stands the template is no YAML: render it first{how}"
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
    """Reads documents into ``read`` and ``scope``."""

    def __init__(self, read: Read, text: ManifestText, scope: Scope, patched_by: str = "") -> None:
        self._read = read
        self._patched_by = patched_by
        self._scope = scope
        self._text = text

    def read(self, document: Document) -> None:
        """Takes the objects of a document."""
        found = list(each_object(document.root))
        if all(isinstance(each, NotAnObject) and _is_foreign(each, document.root) for each in found):
            # A chart's values, or the configuration of some tool.
            self._read.others += 1
            return
        labels: dict[str, str] = {}
        for each in found:
            if isinstance(each, NotAnObject):
                self._report(REFUSED, document.root, Problem("error", each.message, None, each.line, each.field))
            elif (kind := each.with_pods) is not None:
                labels[each.prefix] = self._workload(each, kind, document.root)
            else:
                self._neighbour(each)
        for line, path in document.duplicates:
            prefix = next((prefix for prefix in labels if not prefix or path.startswith(f"{prefix}.")), "")
            problem = Problem("error", _DUPLICATE, None, line, path)
            self._report(DUPLICATE_FIELD, document.root, problem, labels.get(prefix, ""), prefix)

    def _neighbour(self, raw: RawObject) -> None:
        found = neighbour(raw)
        if found is not None:
            self._scope.neighbours.add(found)

    def _workload(self, raw: RawObject, kind: Kind, document: Node) -> str:
        """Takes a workload; returns its label, empty for a patch."""
        found = read_workload(raw, kind, self._read.source.path, self._scope)
        if found is None or any(problem.field.rpartition(".")[2].startswith("$") for problem in found.unknown):
            # The second: `$patch` and its like are instructions to the program that merges the patch.
            self._read.patches += 1
            return ""
        if self._patched_by or (found.refused and _PATCH.search(self._read.source.name) is not None):
            self._patch(found, document, raw.prefix)
            return ""
        workload = found.workload
        self._scope.workloads.append(workload)
        self._read.objects.append(InText(workload, raw.root, len(self._read.roots) - 1, raw.prefix, self._text))
        for problem in found.unknown:
            # The API server ignores a status that somebody writes, and one that it has written is no author's.
            if not problem.field.removeprefix(raw.prefix).removeprefix(".").startswith("status."):
                self._report(UNKNOWN_FIELD, document, problem, workload.label, raw.prefix)
        marked = [problem for problem in found.refused if self._is_marked(document, problem)]
        for problem in found.refused:
            if problem not in marked:
                self._report(REFUSED, document, problem, workload.label, raw.prefix)
        if marked:
            more = len(marked) - 1
            values = "value of this object is a placeholder" if more == 1 else "values of this object are placeholders"
            message = f"{marked[0].message}; {more} more {values} too" if more else marked[0].message
            first = msgspec.structs.replace(marked[0], message=message)
            self._report(TEMPLATE, document, first, workload.label, raw.prefix)
        return workload.label

    def _is_marked(self, document: Node, problem: Problem) -> bool:
        """True if the value that an API server would refuse is a placeholder."""
        *_, last = members_on_way(document, problem.field)
        return _is_unrendered(last.node)

    def _patch(self, found: ReadWorkload, document: Node, prefix: str) -> None:
        """Takes a part of an object that looks like a whole one. Nobody knows the rest of it, so no rule reads it."""
        self._read.patches += 1
        if not found.refused:
            return
        origin = f"{self._patched_by} names this file as a patch" if self._patched_by else "by its name this is a patch"
        message = f"{origin}, so the rest of the object is elsewhere: kustomize build DIR | probelet lint -"
        first = min(found.refused, key=lambda problem: problem.line or 0)
        problem = Problem("error", message, None, first.line, prefix)
        self._report(TEMPLATE, document, problem, found.workload.label, prefix)

    def _report(self, rule: Rule, document: Node, problem: Problem, label: str = "", prefix: str = "") -> None:
        """Adds the finding of a problem whose field is a path in the document."""
        *_, last = members_on_way(document, problem.field)
        position = self._text.position(last.start, last.line)
        name = problem.field.rpartition(".")[2]
        if _UNRENDERED.search(name) if rule is UNKNOWN_FIELD else _is_unrendered(last.node):
            rule = TEMPLATE
        path = problem.field.removeprefix(prefix).removeprefix(".")
        finding = Finding(
            rule=rule.id,
            severity=rule.severity,
            object=label,
            path=path,
            file=self._read.source.name,
            line=position.line,
            column=position.column,
            # As kubectl shows it.
            message=f"{path}: {problem.message}" if path else problem.message,
        )
        self._read.findings.append(Placed(finding, document, problem.field))


def _is_foreign(found: NotAnObject, root: Node) -> bool:
    """True for a document that is no Kubernetes object, and does not try to be one: a kind alone may be anything."""
    if found.reason != "apiVersion":
        return found.reason in ("value", "kind")
    kind = KINDS.get(root.text_of("kind"))
    *_, last = members_on_way(root, f"{kind.template}.spec.containers".lstrip(".") if kind is not None else "")
    items = last.node.value if kind is not None and isinstance(last.node.value, list) else []
    # A patch has no image, and kustomize needs no apiVersion to find what it is for.
    return not any(item.text_of("image") for item in items)


def _is_unrendered(node: Node) -> bool:
    """True for a text that something else will replace, also in the brackets of ``[IMAGE_URL]``."""
    value = node.value
    if isinstance(value, list) and len(value) == 1:
        value = value[0].value
    return isinstance(value, str) and _UNRENDERED.search(value) is not None
