"""The prober as one input of a pod's machine sees it: published results, and which containers have started."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from probelet.spec.model.probe import ProbeType

ResultName: TypeAlias = Literal["Success", "Failure", "Unknown"]
"""A published result."""

KILLING_TYPES: Final[tuple[ProbeType, ...]] = ("liveness", "startup")
"""The probe types whose results the policy acts on. A readiness result changes the status and nothing else."""


class ProbeState(msgspec.Struct, frozen=True):
    """The prober's published results for one pod at the moment of an input.

    ``results`` holds results of the ``KILLING_TYPES``, by type and container id (``type://id``). ``started`` holds the
    names of the containers whose status, as the prober last set it, says started.
    """

    results: Mapping[tuple[ProbeType, str], ResultName] = msgspec.field(default_factory=dict)
    started: frozenset[str] = frozenset()

    def result(self, probe_type: ProbeType, container_id: str) -> ResultName | None:
        """The published result of a container instance; None, which never kills, if the prober has no result."""
        return self.results.get((probe_type, container_id))
