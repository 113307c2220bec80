"""The user's statements about the surroundings of the pods, for rules that manifests alone cannot answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from probelet.lint.finding import Severity
from probelet.lint.observed.container import Observation


@dataclass(frozen=True)
class Settings:
    """The settings of a run; None means that nobody has said it. Times are seconds."""

    kubelet_version: str = "1.36"
    """The release whose fields and gates count."""
    dependency_max: float | None = None
    """The longest time in which a dependency that a probe asks answers."""
    client_timeout: float | None = None
    """The longest time for which clients wait."""
    startup_p99: float | None = None
    """The time in which 99 of 100 containers start; the annotation ``probelet.dev/startup-seconds`` is stronger."""
    pods_per_node: int | None = None
    """How many pods like these a node has."""
    observed: tuple[Observation, ...] = ()
    """Observations of containers that run, and of their clients (``--observed``)."""
    severities: Mapping[str, Severity | None] = field(default_factory=dict)
    """Rule id -> severity of all its findings; None switches the rule off."""

    def has_gate(self, name: str) -> bool:
        """True if the release has this feature gate on by default."""
        # Most runs ask for no gate, and the table of gates costs a third of their start.
        from probelet.config.gate import Gates

        return Gates(self.kubelet_version)[name]
