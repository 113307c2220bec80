"""The line that ``probelet replay -o json`` prints for a recording."""

from typing import Any, TypeAlias, TypedDict

Lines: TypeAlias = list[dict[str, Any]]


class SkippedDocument(TypedDict):
    """The line of a recording that probelet does not play."""

    scenario: str
    """The name of the scenario."""
    skipped: str
    """The reason."""


class TraceDocument(TypedDict):
    """The play of a recorded scenario by probelet's prober. The sections are those of a recording, whose lines
    tests/kubelet/traces/README.md explains."""

    scenario: str
    """The name of the scenario."""
    effective_probes: Lines
    """The probes after the API server's defaults."""
    inputs: Lines
    """The calls of the prober's interface, in their order."""
    probes: Lines
    """Every attempt of a probe."""
    results: Lines
    """Every call of a result cache."""
    updates: Lines
    """Every update that a result cache sent."""
    events: Lines
    """Every event."""
    statuses: Lines
    """The statuses of pods, with started and ready."""
    workers: Lines
    """The workers at the times of the recording's snapshots."""
    end_results: Lines
    """The result caches at the end."""
    end_metrics: Lines
    """The metrics of the prober at the end."""
