"""A container as a rule sees it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from probelet.lab.explain.bounds import Bounds, bounds
from probelet.lab.explain.span import Span
from probelet.lint.fix.change import Fix
from probelet.lint.observed.container import ObservedContainer
from probelet.lint.rule import Hit
from probelet.lint.severity import Confidence, Severity
from probelet.lint.world.probe import LintProbe
from probelet.spec.model.container import Container
from probelet.spec.model.probe import ProbeType

if TYPE_CHECKING:
    from probelet.lint.world.workload import LintWorkload

Role: TypeAlias = Literal["regular", "sidecar", "init", "ephemeral"]


@dataclass(eq=False)
class LintContainer:
    """One container of a workload."""

    spec: Container
    """With its defaults."""
    role: Role
    """``sidecar``: an init container with ``restartPolicy: Always``."""
    path: str
    """From the object's root: ``spec.template.spec.containers[0]``."""
    workload: "LintWorkload"
    probes: Mapping[ProbeType, LintProbe]
    """In the order liveness, readiness, startup."""

    @property
    def name(self) -> str:
        """The container's name."""
        return self.spec.name

    @property
    def liveness(self) -> LintProbe | None:
        """The liveness probe."""
        return self.probes.get("liveness")

    @property
    def readiness(self) -> LintProbe | None:
        """The readiness probe."""
        return self.probes.get("readiness")

    @property
    def startup(self) -> LintProbe | None:
        """The startup probe."""
        return self.probes.get("startup")

    @cached_property
    def bounds(self) -> Mapping[ProbeType, Bounds]:
        """The bounds of each probe."""
        return bounds(self.spec)

    @property
    def startup_budget(self) -> Span | None:
        """When a container that never succeeds is killed, in seconds from its start; None if no probe kills it.
        ``earliest`` is the time that every start may take."""
        return next(iter(self.bounds.values())).startup_budget if self.bounds else None

    @cached_property
    def startup_seconds(self) -> float | None:
        """How long a start takes at most: the annotation ``probelet.dev/startup-seconds``, else the setting."""
        declared = self.workload.declared_startup.get(self.name)
        return declared if declared is not None else self.workload.settings.startup_p99

    @cached_property
    def observed(self) -> list[ObservedContainer]:
        """What was seen of this container, in one row for each pod; empty without ``--observed``."""
        owner, world = self.workload, self.workload.world
        return world.observations.of(owner.written_namespace, owner.name, self.name, world.names)

    def of(self, message: str) -> str:
        """The message with the container's name, if its pod has several containers."""
        return message if self.workload.is_single else f"container {self.name}: {message}"

    def hit(
        self,
        field: str,
        message: str,
        *,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
    ) -> Hit:
        """A hit at a field of the container, such as ``livenessProbe``; empty for the container itself."""
        return Hit(f"{self.path}.{field}".rstrip("."), self.of(message), severity, confidence, fix)
