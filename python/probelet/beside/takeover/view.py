"""The fields of a pod that decide about the takeover, as they were written.

A probe stays a plain JSON object, so that a field unknown to this release is neither lost nor changed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.beside.takeover.names import MANAGED_LABEL
from probelet.errors import ProbeletError
from probelet.spec.model.probe import PROBE_TYPES, ProbeType

RawProbe: TypeAlias = dict[str, Any]
"""A probe as JSON."""

Entries: TypeAlias = dict[str, dict[ProbeType, RawProbe]]
"""Probes by container and type."""


class ViewError(ProbeletError, ValueError):
    """The object is no pod that an API server would send: a field that decides has the wrong type."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the parts: only these fields are decoded, and null means unset as in Go."""


class MetaView(_Part, frozen=True, kw_only=True):
    """``metadata``."""

    namespace: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class OsView(_Part, frozen=True, kw_only=True):
    """``spec.os``."""

    name: str | None = None


class GateView(_Part, frozen=True, kw_only=True):
    """One of ``spec.readinessGates``."""

    condition_type: str | None = None


class ContainerView(_Part, frozen=True, kw_only=True):
    """A container with its probes."""

    name: str | None = None
    restart_policy: str | None = None
    restart_policy_rules: list[Any] | None = None
    liveness_probe: RawProbe | None = None
    readiness_probe: RawProbe | None = None
    startup_probe: RawProbe | None = None

    @property
    def probes(self) -> dict[ProbeType, RawProbe]:
        """The probes that are set, in the order liveness, readiness, startup."""
        present = zip(PROBE_TYPES, (self.liveness_probe, self.readiness_probe, self.startup_probe), strict=True)
        return {probe_type: probe for probe_type, probe in present if probe is not None}

    def with_probes(self, probes: Mapping[ProbeType, RawProbe]) -> "ContainerView":
        """A copy that has exactly these probes."""
        return replace(
            self,
            liveness_probe=probes.get("liveness"),
            readiness_probe=probes.get("readiness"),
            startup_probe=probes.get("startup"),
        )


class SpecView(_Part, frozen=True, kw_only=True):
    """``spec``."""

    restart_policy: str | None = None
    os: OsView | None = None
    node_selector: dict[str, str] | None = None
    readiness_gates: list[GateView] | None = None
    containers: list[ContainerView] | None = None
    init_containers: list[ContainerView] | None = None


class Place(NamedTuple):
    """A container that may have probes: a regular one, or a sidecar (an init container that is always restarted)."""

    field: str
    """``spec.containers[0]``."""
    pointer: str
    """``/spec/containers/0``, as a JSON patch names it."""
    container: ContainerView
    is_sidecar: bool

    @property
    def name(self) -> str:
        """The container's name; empty if it has none."""
        return self.container.name or ""


class PodView(_Part, frozen=True, kw_only=True):
    """A v1.Pod, or as much as the takeover reads."""

    metadata: MetaView = MetaView()
    spec: SpecView = SpecView()

    @property
    def annotations(self) -> dict[str, str]:
        """``metadata.annotations``; not to be changed."""
        return self.metadata.annotations or {}

    @property
    def is_managed(self) -> bool:
        """The pod asks for the takeover."""
        return (self.metadata.labels or {}).get(MANAGED_LABEL) == "true"

    def places(self) -> Iterator[Place]:
        """Every container that may have probes, sidecars first, because they start first."""
        for index, container in enumerate(self.spec.init_containers or ()):
            if container.restart_policy == "Always":
                yield Place(f"spec.initContainers[{index}]", f"/spec/initContainers/{index}", container, True)
        for index, container in enumerate(self.spec.containers or ()):
            yield Place(f"spec.containers[{index}]", f"/spec/containers/{index}", container, False)

    def with_probes(self, probes: Mapping[str, Mapping[ProbeType, RawProbe]]) -> "PodView":
        """A copy in which each container that ``probes`` names has these in addition to its own, which win."""

        def changed(container: ContainerView) -> ContainerView:
            added = probes.get(container.name or "")
            return container if added is None else container.with_probes({**added, **container.probes})

        init = [
            changed(container) if container.restart_policy == "Always" else container
            for container in self.spec.init_containers or ()
        ]
        regular = [changed(container) for container in self.spec.containers or ()]
        return replace(self, spec=replace(self.spec, containers=regular, init_containers=init))

    def with_only(self, probes: Mapping[str, Mapping[ProbeType, RawProbe]]) -> "PodView":
        """A copy whose containers have these probes and no others."""

        def bare(container: ContainerView) -> ContainerView:
            return container.with_probes({})

        spec = replace(
            self.spec,
            containers=[bare(container) for container in self.spec.containers or ()],
            init_containers=[bare(container) for container in self.spec.init_containers or ()],
        )
        return replace(self, spec=spec).with_probes(probes)

    def repeated_names(self) -> set[str]:
        """The names that more than one container has."""
        everyone = (*(self.spec.containers or ()), *(self.spec.init_containers or ()))
        return {name for name, count in Counter(container.name or "" for container in everyone).items() if count > 1}


def view(pod: Any) -> PodView:
    """Reads a pod as plain JSON data. Raises ViewError, one line with the place, for a field of the wrong type."""
    try:
        return msgspec.convert(pod, PodView)
    except msgspec.ValidationError as error:
        raise ViewError(str(error)) from None
