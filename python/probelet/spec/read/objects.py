"""The objects in the text of one file: pods, workloads with a pod template, and Lists of them.

ConfigMaps and Secrets are read beside them; an object of another kind is counted and passed over. Each mistake is a
problem with the line and the path of its field in the file, and leaves out its object; a text with a syntax error has
no objects.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

from probelet.spec.annotation.backoff import chosen_curves
from probelet.spec.annotation.depends_on import depends_on
from probelet.spec.annotation.hold_kills import hold_choice
from probelet.spec.annotation.initialization import fold_annotation
from probelet.spec.annotation.probe_changes import ANNOTATION as PROBE_CHANGES
from probelet.spec.annotation.probe_changes import PATH as PROBE_CHANGES_PATH
from probelet.spec.annotation.probe_changes import wrong_changes
from probelet.spec.annotation.probe_options import ANNOTATION as PROBE_OPTIONS
from probelet.spec.annotation.probe_options import PATH as PROBE_OPTIONS_PATH
from probelet.spec.annotation.probe_options import fold_options
from probelet.spec.annotation.release_on import dependencies
from probelet.spec.fields.support import RuntimeKind
from probelet.spec.model.pod import Pod, PodSpec
from probelet.spec.model.probe_options import OptionDefaults
from probelet.spec.objects.config_object import ConfigObject
from probelet.spec.objects.read import CONFIG_KINDS, read_object
from probelet.spec.read.decode import UNKNOWN, decode_node, report_duplicates
from probelet.spec.read.each_object import NotAnObject, RawObject, each_object
from probelet.spec.read.kinds import Asked, Kind, group_of
from probelet.spec.read.place import Place, echoes
from probelet.spec.read.tree import Document, TreeError, documents
from probelet.spec.rules.defaults import set_defaults
from probelet.spec.rules.host_rule import denied_hosts
from probelet.spec.rules.needed import missing_programs, require_command, require_image
from probelet.spec.rules.security.denied_fields import denied_fields
from probelet.spec.rules.unresolved import unresolved_ports
from probelet.spec.rules.unsupported import unsupported_fields
from probelet.spec.rules.validate import validate
from probelet.spec.rules.validate_probe import non_negative
from probelet.spec.text.problem import FieldError, ObjectName, Problem, shorten

# Finds the programs of a pod that this machine lacks.
MissingPrograms: TypeAlias = Callable[[Pod], list[FieldError]]
# Changes what a pod's containers run, or as whom; the second argument is the name of its workload.
ChangePod: TypeAlias = Callable[[Pod, str], Pod]

REPLICAS_MAX: Final = 4096
"""Most pods that ``replicas`` makes of one file: many times those of a node."""

KINDS_MAX: Final = 100
"""Kinds without pods that are counted by name; objects of further kinds count as ``OTHER_KINDS``."""
OTHER_KINDS: Final = "other kinds"


class Rules(msgspec.Struct, frozen=True):
    """The rules for the pods of a text.

    ``runtime`` is the kind that will run the pods, None if nothing runs them. ``deny_hosts`` makes a host in a probe or
    hook a mistake. ``replicas``: a workload has as many pods as it asks for, else one. ``probe_options``: the options
    of probes whose pods name no others by annotation; None: the annotation is without effect. ``probe_changes``: probes
    of pods that ask for it may change while their containers run. ``change`` changes what
    the pods run, or as whom, after the rules for manifests have judged them.
    """

    runtime: RuntimeKind | None = None
    deny_hosts: bool = False
    missing: MissingPrograms = missing_programs
    replicas: bool = False
    probe_options: OptionDefaults | None = msgspec.field(default_factory=dict)
    change: ChangePod | None = None
    probe_changes: bool = True


class FoundPod(NamedTuple):
    """A pod and its place in the text."""

    pod: Pod
    """Defaulted and valid; without a UID unless its manifest has one."""
    object: ObjectName
    """The object that it comes from."""
    line: int
    """The object's first line, from 1."""
    misspelt: tuple[str, ...] = ()
    """A line for each field of a probe, or in the place of one, that no probe has."""
    stands_for: int = 1
    """How many pods its template asks for, if it alone is made of it."""
    written: PodSpec | None = None
    """The spec of its manifest, if ``Rules.change`` changed the pod."""


@dataclass
class Objects:
    """The objects of a text."""

    pods: list[FoundPod] = field(default_factory=list)
    names: list[ObjectName] = field(default_factory=list)
    """The valid objects with pods, also objects that ask for no pod."""
    passed_over: Counter[str] = field(default_factory=Counter)
    """The number of objects of other kinds, by kind: ``Service``, ``Certificate.cert-manager.io``."""
    config_objects: list[ConfigObject] = field(default_factory=list)
    """The valid ConfigMaps and Secrets."""
    problems: list[Problem] = field(default_factory=list)


def read_objects(path: Path, text: str | OSError | TreeError, rules: Rules) -> Objects:
    """The objects of a file's text, or the problem that is there in place of a text. ``path`` names the file in
    messages."""
    found = Objects()
    reader = _Reader(path, rules, found)
    try:
        if not isinstance(text, str):
            raise text
        for document in documents(text):
            report_duplicates(document, path, found.problems)
            reader.read(document)
    except OSError as error:
        problem = Problem("error", f"cannot be read: {error.strerror}", path)
    except TreeError as error:
        problem = Problem("error", f"{error}{_advice(text, error.line)}", path, error.line)
    except Exception as error:
        # A mistake of ours that one manifest brings to light must not end the pods of all others.
        problem = Problem("error", f"cannot be read: {type(error).__name__}: {error}", path)
    else:
        return found
    # The part that could not be read might have changed the meaning of the objects before it.
    return Objects(problems=[*found.problems, problem])


def _advice(text: object, line: int) -> str:
    """Advice for the source of a template, such as a Helm chart's, and for a tab."""
    if not isinstance(text, str):
        return ""
    if "{{" in text:
        return "; a template has to be rendered first: helm template CHART | probelet run -"
    broken = "".join(text.splitlines()[max(line - 1, 0) : line])
    return "; indent with blanks, YAML allows no tab there" if "\t" in broken else ""


class _Reader:
    """Reads documents into ``found``."""

    def __init__(self, path: Path, rules: Rules, found: Objects) -> None:
        self._path = path
        self._rules = rules
        self._found = found

    def read(self, document: Document) -> None:
        """Takes the objects of a document."""
        for found in each_object(document.root):
            if isinstance(found, NotAnObject):
                self._found.problems.append(Problem("error", found.message, self._path, found.line, found.field))
            elif (kind := found.with_pods) is not None:
                self._with_pods(found, kind)
            elif found.kind in CONFIG_KINDS and found.version == "v1":
                read = read_object(found.root, found.kind, found.prefix, self._path, self._found.problems)
                self._found.config_objects += read
            else:
                self._pass_over(shorten(f"{found.kind}.{group_of(found.version)}".rstrip(".")))

    def _pass_over(self, kind: str) -> None:
        passed_over = self._found.passed_over
        passed_over[kind if kind in passed_over or len(passed_over) < KINDS_MAX else OTHER_KINDS] += 1

    def _with_pods(self, raw: RawObject, kind: Kind) -> None:
        """Takes the pods of a Pod or a workload, or reports why it has none."""
        root, prefix = raw.root, raw.prefix
        found: list[Problem] = []
        decoded = decode_node(root, kind.cls, self._path, found, prefix)
        mistyped = {problem.field for problem in found if problem.severity == "error"}
        pod, errors = fold_annotation(kind.pod(decoded))
        pod = set_defaults(pod)
        pod, mistakes = fold_options(pod, self._rules.probe_options)
        errors += mistakes
        name = ObjectName(raw.kind, pod.metadata.namespace, pod.metadata.name)
        place = Place(self._path, root, prefix, name, kind.template)
        found = [msgspec.structs.replace(problem, object=name) for problem in found]
        asked = kind.asked(decoded)
        pods = self._pods(pod, kind, asked)
        # The last name is the longest.
        errors += self._errors(pods[-1] if pods else pod) + kind.rules(decoded, pod)
        warnings = unresolved_ports(pod)
        if self._rules.probe_options is None and PROBE_OPTIONS in pod.metadata.annotations:
            warnings.append(_NOT_OPTED_IN)
        if not self._rules.probe_changes and PROBE_CHANGES in pod.metadata.annotations:
            warnings.append(_NOT_LIVE)
        written = None if self._rules.change is None else pod.spec
        if self._rules.change is not None:
            pods = [self._rules.change(each, name.name) for each in pods]
        if self._rules.runtime == "process":
            runs = pods[-1] if pods else pod
            errors += require_command(runs)
            warnings += self._rules.missing(runs)
        problems = [place.in_pod("error", error) for error in errors]
        problems += [place.in_pod("warning", error) for error in warnings]
        problems += [place.located("error", error) for error in self._misasked(asked)]
        if not pods and asked.pods == 0:
            problems.append(place.problem("warning", "asks for no pod", asked.field))
        found += [problem for problem in problems if not echoes(problem, mistyped)]
        self._found.problems.extend(sorted(found, key=lambda problem: problem.line))
        if not any(problem.severity == "error" for problem in found):
            self._found.names.append(name)
            misspelt = tuple(_misspelt(found))
            stands_for = asked.pods if kind.template and asked.field and not self._rules.replicas else 1
            self._found.pods.extend(FoundPod(pod, name, root.line, misspelt, stands_for, written) for pod in pods)

    def _errors(self, pod: Pod) -> list[FieldError]:
        """The mistakes of a pod."""
        errors = validate(pod) + unsupported_fields(pod) + chosen_curves(pod)[1] + dependencies(pod)[1]
        errors += depends_on(pod)[1] + hold_choice(pod)[1] + wrong_changes(pod)
        if self._rules.deny_hosts:
            errors += denied_hosts(pod)
        if self._rules.runtime == "cri":
            errors += require_image(pod) + denied_fields(pod)
        return errors

    def _left(self) -> int:
        """How many pods ``replicas`` may still make of this file."""
        return max(REPLICAS_MAX - len(self._found.pods), 0)

    def _misasked(self, asked: Asked) -> Iterator[FieldError]:
        yield from non_negative(asked.field, asked.pods)
        yield from non_negative("spec.ordinals.start", asked.first)
        if self._rules.replicas and asked.field and asked.pods > self._left():
            detail = f"--replicas makes at most {REPLICAS_MAX} pods of a file"
            yield FieldError(asked.field, "Too many", asked.pods, detail)

    def _pods(self, pod: Pod, kind: Kind, asked: Asked) -> list[Pod]:
        """The pods that an object is to have; with ``replicas`` none if it asks for none or for too many."""
        if not self._rules.replicas or not kind.template or not pod.metadata.name:
            return [pod]
        if asked.field and asked.pods > self._left():
            return []
        name, numbers = pod.metadata.name, range(asked.first, asked.first + asked.pods)
        return [_named(pod, f"{name}-{number}") for number in numbers]


_NOT_OPTED_IN: Final = FieldError(
    PROBE_OPTIONS_PATH, "Forbidden", detail="no effect: this node does not allow options of probes (probeOptions)"
)


_NOT_LIVE: Final = FieldError(
    PROBE_CHANGES_PATH, "Forbidden", detail="no effect: this node does not allow probes to change (probeChanges)"
)


def _misspelt(problems: list[Problem]) -> Iterator[str]:
    """The unknown fields that have to do with a probe: a pod with a misspelt one runs without it."""
    for problem in problems:
        if UNKNOWN in problem.message and "probe" in f"{problem.field} {problem.message}".lower():
            yield f"{problem.field}: {problem.message}"


def _named(pod: Pod, name: str) -> Pod:
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, name=name))
