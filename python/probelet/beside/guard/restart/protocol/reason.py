"""The outcome of each decision: event reason, metric label and field of the log."""

from collections.abc import Hashable
from typing import Final, Literal, TypeAlias

import msgspec

Reason: TypeAlias = Literal[
    "PodGone",
    "OptedOut",
    "NodeNotReady",
    "Stale",
    "OldInstance",
    "NotRunning",
    "Reevaluating",
    "SwitchedOff",
    "Blacklisted",
    "Backoff",
    "HourlyCap",
    "PodBusy",
    "BreakerOpen",
    "WorkloadLimit",
    "BudgetDenied",
    "BudgetUnknown",
    "QueueFull",
    "Queued",
    "Recovered",
    "DryRun",
    "Restarting",
    "CreateRejected",
]

Breaker: TypeAlias = Literal["node", "incident", "workload"]
"""``node``: nothing on the node is restarted. ``incident``: several workloads fail for one thing that they share.
``workload``: many pods of one workload fail at once."""

REASONS: Final[dict[Reason, str]] = {
    "PodGone": "the pod is gone, ended, on another node, or not restarted by its policy",
    "OptedOut": "the pod does not ask for enhanced liveness any more",
    "NodeNotReady": "the node is not ready, so nobody would start the container again",
    "Stale": "the node has not published anything about the probe for too long",
    "OldInstance": "the failure is older than the running container",
    "NotRunning": "the container does not run",
    "Reevaluating": "the probe did not run since another container was restarted, or its node's breaker was open",
    "SwitchedOff": "the configuration has enabled: false",
    "Blacklisted": "the configuration excludes the pod",
    "Backoff": "the container was restarted not long ago",
    "HourlyCap": "the container was restarted maxRestartsPerHour times",
    "PodBusy": "another request restarts a container of the pod",
    "BreakerOpen": "an open incident that a restart does not mend, or too many pods of the workload or node fail",
    "WorkloadLimit": "workload.maxInFlight pods of the workload are being restarted",
    "BudgetDenied": "a budget leaves no room",
    "BudgetUnknown": "a budget's status is missing, old, or cannot be read",
    "QueueFull": "the queue of the workload is full",
    "Queued": "every check passed; the restart waits for a token",
    "Recovered": "the probe succeeded while the restart waited",
    "DryRun": "the restart would happen now, but the configuration has dryRun: true",
    "Restarting": "a ContainerRecreateRequest is created",
    "CreateRejected": "the API server refused the ContainerRecreateRequest",
}
"""The meaning of each, for people. Order: as the checks are made."""

WITH_EVENT: Final[frozenset[Reason]] = frozenset(
    {
        "NodeNotReady",
        "Stale",
        "SwitchedOff",
        "Blacklisted",
        "HourlyCap",
        "BreakerOpen",
        "WorkloadLimit",
        "BudgetDenied",
        "BudgetUnknown",
        "DryRun",
    }
)
"""Refusals that get an event, at most one for each pod, reason and incident in ``EVENT_EVERY_NS``."""

_NO_HOLD: Final[frozenset[Reason]] = frozenset(
    {"PodGone", "OptedOut", "OldInstance", "NotRunning", "Recovered", "Restarting"}
)
"""After these decisions a failure waits for nothing: it means no container that runs, or its restart is under way."""

HOLDS: Final[tuple[Reason, ...]] = tuple(reason for reason in REASONS if reason not in _NO_HOLD)
"""The reasons for which a failed probe stays without a restart."""

EVENT_EVERY_NS: Final = 300_000_000_000


class CheckResult(msgspec.Struct, frozen=True):
    """The result of a check: why a restart does not happen now, and when to ask again."""

    reason: Reason
    message: str
    gate: Hashable = None
    """The thing whose change may let it pass; None: only a change of the pod or its probes."""
    until_ns: int | None = None
    """When to ask again in any case."""
    breaker: Breaker | None = None
    """The breaker that is open; None for every other reason."""
    incident: str = ""
    """The id of the incident that has opened it; empty if shares have."""
