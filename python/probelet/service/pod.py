"""Checks a v1.Pod that a caller hands over.

A kubelet's prober gets pods that an API server or a file source has defaulted and validated. The service does neither
again: it takes what the kubelet's prober would take, and refuses, with the field, what no prober can work with.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import structlog

from probelet.service.error import RequestError
from probelet.service.json_object import check_size
from probelet.service.limit import CONTAINERS_MAX, EXPANDED_BYTES_MAX, NAME_BYTES_MAX
from probelet.service.rules import Rules
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.read.json import SpecError, decode_pod, encode_pod
from probelet.spec.rules.validate import POD_RESTART_POLICIES
from probelet.spec.rules.validate_probe import unsupported_value
from probelet.spec.text.problem import FieldError, shorten

log = structlog.get_logger("probelet.serve")

MISTAKES_MAX: Final = 10
"""Mistakes that a refusal names; it only counts the others."""

ACTIONS: Final = ("Restart", "RestartAllContainers")
OPERATORS: Final = ("In", "NotIn")


class CheckedPod(NamedTuple):
    """A pod that the engine takes."""

    uid: str
    namespace: str
    name: str
    document: bytes
    """The fields that were checked, as JSON: the engine reads nothing that this check has not read."""
    probes: frozenset[tuple[str, str]]
    """Container and type of each probe."""
    containers: int
    bytes: int
    """How many bytes the engine keeps of it at most."""


def check_pod(text: bytes, rules: Rules) -> CheckedPod:
    """Reads a v1.Pod. Raises RequestError with a line for each impossible field."""
    check_size(text, "pod")
    try:
        pod = rules.apply(decode_pod(text))
    except SpecError as error:
        raise _refused(
            [f"{shorten(problem.field) or 'pod'}: {problem.message}" for problem in error.problems]
        ) from error
    if mistakes := [str(mistake.shortened()) for mistake in (*_mistakes(pod), *rules.mistakes(pod))]:
        raise _refused(mistakes)
    pod, ignored = rules.opted(pod)
    for mistake in ignored:
        log.warning("probe options ignored", uid=pod.metadata.uid, problem=str(mistake.shortened()))
    meta = pod.metadata
    probed = [*pod.spec.init_containers, *pod.spec.containers]
    probes = frozenset((container.name, kind) for container in probed for kind in container.probes)
    document = encode_pod(pod)
    size = len(document) + sum(map(_expansion_bytes, probed))
    return CheckedPod(meta.uid, meta.namespace, meta.name, document, probes, len(probed), size)


def _expansion_bytes(container: Container) -> int:
    """The most that the values of variables add to the container's exec commands."""
    longest = max((len(variable.value) for variable in container.env), default=0)
    commands = [probe.exec.command for probe in container.probes.values() if probe.exec is not None]
    return min(longest * sum(word.count("$(") for command in commands for word in command), EXPANDED_BYTES_MAX)


def required_uid(uid: str, path: str) -> str:
    """The UID. Raises RequestError if it is empty or too long."""
    if mistakes := [str(mistake) for mistake in _uid(uid, path)]:
        raise _refused(mistakes)
    return uid


def too_long(path: str, text: str) -> Iterator[FieldError]:
    """The mistake of a name that is too long to be kept."""
    if len(text.encode()) > NAME_BYTES_MAX:
        detail = f"must have at most {NAME_BYTES_MAX} bytes"
        yield FieldError(path, "Invalid value", shorten(text), detail)


def _uid(uid: str, path: str) -> Iterator[FieldError]:
    if not uid:
        yield FieldError(path, "Required value")
    yield from too_long(path, uid)


def _mistakes(pod: Pod) -> Iterator[FieldError]:
    meta, spec = pod.metadata, pod.spec
    yield from _uid(meta.uid, "metadata.uid")
    yield from too_long("metadata.namespace", meta.namespace)
    yield from too_long("metadata.name", meta.name)
    if spec.restart_policy and spec.restart_policy not in POD_RESTART_POLICIES:
        yield unsupported_value("spec.restartPolicy", spec.restart_policy, POD_RESTART_POLICIES)
    if (count := len(spec.containers) + len(spec.init_containers)) > CONTAINERS_MAX:
        yield FieldError("spec.containers", "Too many", count, f"must have at most {CONTAINERS_MAX} items")
        return
    for kind, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            yield from _container(container, f"spec.{kind}[{index}]")


def _container(container: Container, path: str) -> Iterator[FieldError]:
    yield from too_long(f"{path}.name", container.name)
    policy = container.restart_policy
    if policy is not None and policy not in POD_RESTART_POLICIES:
        yield unsupported_value(f"{path}.restartPolicy", policy, POD_RESTART_POLICIES)
    for index, rule in enumerate(container.restart_policy_rules):
        within = f"{path}.restartPolicyRules[{index}]"
        if rule.action not in ACTIONS:
            yield unsupported_value(f"{within}.action", rule.action, ACTIONS)
        if rule.exit_codes is not None and rule.exit_codes.operator not in OPERATORS:
            yield unsupported_value(f"{within}.exitCodes.operator", rule.exit_codes.operator, OPERATORS)
    for kind in ("startup", "readiness", "liveness"):
        probe = container.probe(kind)
        # Without a period the worker would run all the time, and the kubelet's panics (time.NewTicker).
        if probe is not None and probe.period_seconds < 1:
            value = probe.period_seconds
            detail = "must be greater than or equal to 1"
            yield FieldError(f"{path}.{kind}Probe.periodSeconds", "Invalid value", value, detail)


def _refused(mistakes: list[str]) -> RequestError:
    """The refusal of a pod: a line for each of the first mistakes."""
    shown = mistakes[:MISTAKES_MAX]
    if hidden := len(mistakes) - len(shown):
        shown.append(f"{hidden} more mistakes")
    return RequestError("INVALID_ARGUMENT", "\n".join(shown))
