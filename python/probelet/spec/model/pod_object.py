"""A v1.Pod as an API server sends it, with only the fields that decisions beside a kubelet need.

At 5,000 nodes a controller reads half a million pods, so this is the one reader of them, and it is narrow: what each
decision keeps of a pod is a struct of its own, made from it. Null means unset, as in Go. Probes, hooks and ports stay
plain JSON data, so that a field unknown to this release is neither lost nor changed.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.spec.model.meta import OwnerReference
from probelet.spec.model.pod import PodStatus
from probelet.spec.model.probe import PROBE_TYPES, ProbeType

RawProbe: TypeAlias = dict[str, Any]
"""A probe as JSON."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the parts: only these fields are decoded."""


class MetaPart(_Part, frozen=True, kw_only=True):
    """``metadata``."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    deletion_timestamp: str | None = None


class OsPart(_Part, frozen=True, kw_only=True):
    """``spec.os``."""

    name: str | None = None


class GatePart(_Part, frozen=True, kw_only=True):
    """One of ``spec.readinessGates``."""

    condition_type: str | None = None


class ContainerPart(_Part, frozen=True, kw_only=True):
    """A container, a regular one or an init container."""

    name: str | None = None
    image: str | None = None
    restart_policy: str | None = None
    restart_policy_rules: list[Any] | None = None
    lifecycle: dict[str, Any] | None = None
    ports: list[dict[str, Any]] | None = None
    liveness_probe: RawProbe | None = None
    readiness_probe: RawProbe | None = None
    startup_probe: RawProbe | None = None

    @property
    def probes(self) -> dict[ProbeType, RawProbe]:
        """The probes that are set, in the order liveness, readiness, startup."""
        present = zip(PROBE_TYPES, (self.liveness_probe, self.readiness_probe, self.startup_probe), strict=True)
        return {probe_type: probe for probe_type, probe in present if probe is not None}

    def with_probes(self, probes: Mapping[ProbeType, RawProbe]) -> "ContainerPart":
        """A copy that has exactly these probes."""
        return replace(
            self,
            liveness_probe=probes.get("liveness"),
            readiness_probe=probes.get("readiness"),
            startup_probe=probes.get("startup"),
        )


class SpecPart(_Part, frozen=True, kw_only=True):
    """``spec``."""

    restart_policy: str | None = None
    node_name: str | None = None
    host_network: bool | None = None
    termination_grace_period_seconds: int | None = None
    os: OsPart | None = None
    node_selector: dict[str, str] | None = None
    readiness_gates: list[GatePart] | None = None
    containers: list[ContainerPart] | None = None
    init_containers: list[ContainerPart] | None = None


class PodObject(_Part, frozen=True, kw_only=True):
    """A pod, or as much as the decisions need."""

    metadata: MetaPart = MetaPart()
    spec: SpecPart = SpecPart()
    status: PodStatus | None = None

    @property
    def annotations(self) -> dict[str, str]:
        """``metadata.annotations``; not to be changed."""
        return self.metadata.annotations or {}

    def has_gate(self, condition: str) -> bool:
        """True if a readiness gate waits for that condition."""
        return any(gate.condition_type == condition for gate in self.spec.readiness_gates or ())


def annotations_of(found: dict[str, Any]) -> dict[str, str]:
    """The annotations of a v1.Pod as JSON data, for a decision whether to decode it at all."""
    return (found.get("metadata") or {}).get("annotations") or {}


def identity(pod: PodObject) -> tuple[str, str, str]:
    """Namespace, name and UID of a pod that an API server has. Raises msgspec.ValidationError for one without them."""
    meta = pod.metadata
    if not (meta.namespace and meta.name and meta.uid):
        raise msgspec.ValidationError("a pod without namespace, name or UID")
    return meta.namespace, meta.name, meta.uid


def read_pod_object(found: dict[str, Any]) -> PodObject:
    """Reads a v1.Pod. Raises msgspec.ValidationError for a field of the wrong type."""
    return msgspec.convert(found, PodObject, strict=False)
