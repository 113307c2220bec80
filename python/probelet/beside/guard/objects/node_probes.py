"""A NodePodProbe (apps.kruise.io/v1alpha1, kruise 1.9.0) as the restart decision reads it.

The mapping does not use this type: it keeps objects as JSON, so that what others wrote survives byte for byte.
"""

from typing import Any, Final, Literal, TypeAlias

import msgspec

from probelet.beside.guard.objects.cause import cause_of
from probelet.beside.guard.objects.moment import nanoseconds
from probelet.beside.guard.objects.probe_name import Naming, is_ours
from probelet.spec.model.meta import Object, ObjectMeta
from probelet.spec.model.probe import Probe
from probelet.spec.rules.defaults import FAILURE_THRESHOLD, PERIOD_SECONDS, TIMEOUT_SECONDS

API_VERSION: Final = "apps.kruise.io/v1alpha1"
KIND: Final = "NodePodProbe"

MESSAGE_BYTES_MAX: Final = 256
"""Bytes of a probe's message that are kept and passed on: probe output may hold secrets (S-5)."""

FAILED_BEAT_NS: Final = 180_000_000_000
"""After this time probelet's agent writes a failure again: the restart decision takes none that is much older (R-4),
and another writer may have lost it (F-17)."""

PUBLISHED_NS: Final = 5_000_000_000
"""Nodes publish what happened within this time (D-9), with all that may delay the write."""

LAST_ATTEMPT_FAILED: Final = "last attempt failed: "
"""How the message of a probe begins whose last attempt failed, while its state is not Failed yet: OpenKruise's type has
no field for it. probelet's agent writes it."""

State: TypeAlias = Literal["Succeeded", "Failed", "Unknown"]


class _SpecProbe(Object, frozen=True, kw_only=True):
    name: str = ""
    container_name: str = ""
    probe: Probe = Probe()


class _SpecEntry(Object, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    probes: list[_SpecProbe] = msgspec.field(default_factory=list)


class _Spec(Object, frozen=True, kw_only=True):
    pod_probes: list[_SpecEntry] = msgspec.field(default_factory=list)


class _ProbeState(Object, frozen=True, kw_only=True):
    name: str = ""
    state: str = ""
    last_probe_time: str | None = None
    last_transition_time: str | None = None
    message: str = ""


class _StatusEntry(Object, frozen=True, kw_only=True):
    uid: str = ""
    probe_states: list[_ProbeState] = msgspec.field(default_factory=list)


class _Status(Object, frozen=True, kw_only=True):
    pod_probe_statuses: list[_StatusEntry] = msgspec.field(default_factory=list)


class _NodePodProbe(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: _Status = _Status()


class ProbeState(msgspec.Struct, frozen=True, gc=False):
    """One of our probes, and what the node last published about it. Moments are by the node's clock."""

    name: str
    container: str
    state: State = "Unknown"
    probed_ns: int = 0
    """When the node last ran it, or last said that nothing changed."""
    since_ns: int = 0
    """When its state last changed."""
    message: str = ""
    """Only of a failed probe."""
    is_failing: bool = False
    """Whether its last attempt failed, as far as the node says so."""
    cause: str = ""
    """Why, in one of the words for causes; empty unless ``is_failing``."""
    period_seconds: int = PERIOD_SECONDS
    timeout_seconds: int = TIMEOUT_SECONDS
    failure_threshold: int = FAILURE_THRESHOLD
    grace_seconds: int | None = None
    """The probe's own termination grace period."""


class PodProbes(msgspec.Struct, frozen=True, gc=False):
    """Our probes of one pod, in the order of the NodePodProbe."""

    namespace: str
    name: str
    uid: str
    probes: tuple[ProbeState, ...]


class NodeProbes(msgspec.Struct, frozen=True):
    """Our part of one NodePodProbe."""

    node: str
    pods: dict[str, PodProbes]
    """By UID."""
    generation: int = 0
    """For the mapping, which compares the spec only after a change of it."""


def read_node_probes(obj: dict[str, Any], naming: Naming) -> NodeProbes:
    """Reads a NodePodProbe, without what others have in it."""
    read = msgspec.convert(obj, _NodePodProbe, strict=False)
    states = {
        (entry.uid, state.name): state for entry in read.status.pod_probe_statuses for state in entry.probe_states
    }
    pods = {}
    for entry in read.spec.pod_probes:
        probes = tuple(
            _state(probe, states.get((entry.uid, probe.name)))
            for probe in entry.probes
            if is_ours(naming, entry.name, probe.container_name, probe.name)
        )
        if probes:
            pods[entry.uid] = PodProbes(entry.namespace, entry.name, entry.uid, probes)
    return NodeProbes(read.metadata.name, pods, read.metadata.generation)


def _state(probe: _SpecProbe, found: _ProbeState | None) -> ProbeState:
    wanted = probe.probe
    state: State = "Unknown"
    if found is not None and found.state in ("Succeeded", "Failed"):
        state = "Succeeded" if found.state == "Succeeded" else "Failed"
    is_failing = state == "Failed" or (found is not None and found.message.startswith(LAST_ATTEMPT_FAILED))
    return ProbeState(
        name=probe.name,
        container=probe.container_name,
        state=state,
        probed_ns=0 if found is None else nanoseconds(found.last_probe_time) or 0,
        since_ns=0 if found is None else nanoseconds(found.last_transition_time) or 0,
        message=cut(found.message) if found is not None and state == "Failed" else "",
        is_failing=is_failing,
        cause=cause_of(found.message.removeprefix(LAST_ATTEMPT_FAILED)) if found is not None and is_failing else "",
        period_seconds=wanted.period_seconds or PERIOD_SECONDS,
        timeout_seconds=wanted.timeout_seconds or TIMEOUT_SECONDS,
        failure_threshold=wanted.failure_threshold or FAILURE_THRESHOLD,
        grace_seconds=wanted.termination_grace_period_seconds,
    )


def cut(message: str) -> str:
    """A message of at most ``MESSAGE_BYTES_MAX`` bytes; no character is cut in two."""
    return message.encode("utf-8", "replace")[:MESSAGE_BYTES_MAX].decode("utf-8", "ignore")
