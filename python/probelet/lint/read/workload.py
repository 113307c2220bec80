"""Decodes and validates a workload, and builds what rules see of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from probelet.lint.model.workload import LintContainer, LintProbe, LintWorkload, Role, Scope
from probelet.spec.annotation.backoff import chosen_curves
from probelet.spec.annotation.hold_kills import hold_choice
from probelet.spec.annotation.initialization import fold_annotation
from probelet.spec.annotation.probe_options import fold_options
from probelet.spec.annotation.release_on import dependencies
from probelet.spec.annotation.startup_seconds import startup_seconds
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType
from probelet.spec.read.decode import decode_node
from probelet.spec.read.each_object import RawObject
from probelet.spec.read.kinds import Kind
from probelet.spec.read.place import Place, echoes
from probelet.spec.read.tree import Node, members_on_way
from probelet.spec.rules.defaults import set_defaults
from probelet.spec.rules.validate import validate
from probelet.spec.text.problem import FieldError, ObjectName, Problem


class ReadWorkload(NamedTuple):
    """A workload and its mistakes."""

    workload: LintWorkload
    unknown: list[Problem]
    """The fields that the API does not have."""
    refused: list[Problem]
    """The mistakes that make an API server refuse the object."""


def read_workload(raw: RawObject, kind: Kind, path: Path, scope: Scope) -> ReadWorkload | None:
    """The workload; None if it is a patch, of which most fields are elsewhere."""
    problems: list[Problem] = []
    decoded = decode_node(raw.root, kind.cls, path, problems, raw.prefix)
    pod, errors = fold_annotation(kind.pod(decoded))
    if _is_patch(raw, kind, pod):
        return None
    pod, wrong = fold_options(set_defaults(pod))
    startup, mistakes = startup_seconds(pod)
    errors += wrong + hold_choice(pod)[1]
    errors += validate(pod) + kind.rules(decoded, pod) + chosen_curves(pod)[1] + dependencies(pod)[1] + mistakes
    written = decoded.metadata  # type: ignore[attr-defined]  # every kind of KINDS has one
    name = ObjectName(raw.kind, pod.metadata.namespace, pod.metadata.name)
    place = Place(path, raw.root, raw.prefix, name, kind.template)
    refused = [problem for problem in problems if problem.severity == "error"]
    mistyped = {problem.field for problem in refused}
    found = [place.in_pod("error", error) for error in errors if not _is_named_later(error, pod)]
    refused += [problem for problem in found if not echoes(problem, mistyped)]
    workload = LintWorkload(
        kind=raw.kind,
        written_namespace=written.namespace,
        name=written.name,
        object=decoded,
        pod=pod,
        template=kind.template,
        replicas=kind.asked(decoded).pods,
        scope=scope,
        declared_startup=startup,
    )
    mistaken = [problem.field.removeprefix(raw.prefix).removeprefix(".") for problem in refused]
    workload.containers += _containers(raw.root, workload, mistaken)
    return ReadWorkload(workload, [problem for problem in problems if problem.severity == "warning"], refused)


def _is_patch(raw: RawObject, kind: Kind, pod: Pod) -> bool:
    """True for a part of an object, which kustomize merges into the whole: no container says what it runs."""
    if any(container.image or container.command or container.args for container in pod.spec.containers):
        return False
    spec = raw.root.value.get("spec") if isinstance(raw.root.value, dict) else None
    members = spec.node.value if spec is not None and isinstance(spec.node.value, dict) else {}
    return bool(kind.template) and "selector" not in members


def _is_named_later(error: FieldError, pod: Pod) -> bool:
    """True for the lack of a name that the API server makes."""
    return error.path == "metadata.name" and error.kind == "Required value" and bool(pod.metadata.generate_name)


def _containers(root: Node, workload: LintWorkload, mistaken: list[str]) -> Iterator[LintContainer]:
    """The containers without a mistake: a rule may rely on the values that it sees."""
    for pod_path, container in workload.pod.spec.each_container():
        path = workload.in_pod(pod_path)
        if not any(field == path or field.startswith(f"{path}.") for field in mistaken):
            yield _container(root, workload, path, container)


def _container(root: Node, workload: LintWorkload, path: str, spec: Container) -> LintContainer:
    probes: dict[ProbeType, LintProbe] = {}
    container = LintContainer(spec, _role(path, spec), path, workload, probes)
    for probe_type, probe in spec.probes.items():
        probe_path = f"{path}.{probe_type}Probe"
        probes[probe_type] = LintProbe(probe_type, probe, _written(root, probe_path), probe_path, container)
    return container


def _role(path: str, spec: Container) -> Role:
    if ".initContainers[" in path:
        return "sidecar" if spec.restart_policy == "Always" else "init"
    return "ephemeral" if ".ephemeralContainers[" in path else "regular"


def _written(root: Node, path: str) -> frozenset[str]:
    *_, last = members_on_way(root, path)
    value = last.node.value
    if not isinstance(value, dict):
        return frozenset()
    return frozenset(name for name, member in value.items() if member.node.value is not None)
