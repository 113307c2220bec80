"""A pod as it was written, as the takeover sees it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.beside.takeover.names import MANAGED_LABEL
from probelet.errors import ProbeletError
from probelet.spec.model.pod_object import ContainerPart, PodObject, RawProbe
from probelet.spec.model.probe import ProbeType

Entries: TypeAlias = dict[str, dict[ProbeType, RawProbe]]
"""Probes by container and type."""


class ViewError(ProbeletError, ValueError):
    """The object is no pod that an API server would send: a field that decides has the wrong type."""


class Place(NamedTuple):
    """A container that may have probes: a regular one, or a sidecar (an init container that is always restarted)."""

    field: str
    """``spec.containers[0]``."""
    pointer: str
    """``/spec/containers/0``, as a JSON patch names it."""
    container: ContainerPart
    is_sidecar: bool

    @property
    def name(self) -> str:
        """The container's name; empty if it has none."""
        return self.container.name or ""


class PodView(PodObject, frozen=True, kw_only=True):
    """A v1.Pod with what the takeover asks of it and changes in it."""

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

        def changed(container: ContainerPart) -> ContainerPart:
            added = probes.get(container.name or "")
            return container if added is None else container.with_probes({**added, **container.probes})

        init = [
            changed(container) if container.restart_policy == "Always" else container
            for container in self.spec.init_containers or ()
        ]
        regular = [changed(container) for container in self.spec.containers or ()]
        return replace(self, spec=replace(self.spec, containers=regular, init_containers=init))

    def without(self, kinds: Mapping[str, Set[ProbeType]]) -> "PodView":
        """A copy in which each container that ``kinds`` names lacks its probes of these types."""

        def changed(container: ContainerPart) -> ContainerPart:
            gone = kinds.get(container.name or "", ())
            return container.with_probes({kind: probe for kind, probe in container.probes.items() if kind not in gone})

        spec = replace(
            self.spec,
            containers=[changed(container) for container in self.spec.containers or ()],
            init_containers=[changed(container) for container in self.spec.init_containers or ()],
        )
        return replace(self, spec=spec)

    def with_only(self, probes: Mapping[str, Mapping[ProbeType, RawProbe]]) -> "PodView":
        """A copy whose containers have these probes and no others."""

        def bare(container: ContainerPart) -> ContainerPart:
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
