"""The configuration of the restart decision, with its defaults. Durations in nanoseconds."""

from typing import Literal

import msgspec

from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import Object
from probelet.spec.model.selector import LabelSelector
from probelet.spec.text.duration import SECOND


class Exclusion(Object, frozen=True, kw_only=True):
    """Pods that are never restarted; a field that is empty matches all. One without any field matches none."""

    namespace: str = ""
    workload_kind: str = ""
    workload_name: str = ""
    pod: str = ""
    node: str = ""
    label_selector: LabelSelector | None = None


class Config(msgspec.Struct, frozen=True):
    """All settings; ``settings`` reads them from the data of a ConfigMap."""

    enabled: bool = True
    """False: no request is created anywhere."""
    detection: bool = True
    """False: nothing is probed either."""
    dry_run: bool = False
    """Decide and say so, create nothing."""
    tokens_per_minute: int = 10
    """Restarts a minute in the whole cluster."""
    burst: int = 5
    """Restarts at once after a quiet time."""
    queue_per_workload: int = 10
    queue_random: bool = True
    """A random one of the waiting restarts is next; False: the one that has waited longest."""
    max_in_flight: IntOrString = "20%"
    """Restarts of one workload at the same time: a number or a share of its replicas, rounded up, at least 1."""
    breaker_ratio: float = 0.5
    breaker_min_pods: int = 3
    breaker_action: Literal["serialize", "block", "off"] = "serialize"
    """The reaction when that share of a workload's pods fails, if it has at least so many."""
    node_breaker_ratio: float = 0.8
    node_breaker_min_pods: int = 4
    """When that share of a node's pods fails, nothing on it is restarted."""
    breaker_incidents: bool = True
    """Whether an open incident opens and closes breakers; False: shares alone do."""
    blacklist: tuple[Exclusion, ...] = ()
    backoff_base_ns: int = 10 * SECOND
    backoff_max_ns: int = 300 * SECOND
    backoff_reset_ns: int = 600 * SECOND
    """The delay after each restart of a container, and how long its probe must succeed until it begins anew."""
    max_restarts_per_hour: int = 0
    """Of each container; 0: no limit."""
    ttl_seconds: int = 600
    """How long a completed request stays."""
    active_deadline_seconds: int | None = None
    """None: the grace periods and 300 s."""
    grace_seconds: int | None = None
    """None: the pod's. A probe's own goes first."""
    unready_grace_seconds: int | None = None
    """How long a pod with the readiness gate is taken out of service before its container stops."""
    stale_after_ns: int | None = None
    """None: after three periods, or the node's heartbeat, and a minute."""
    budget_missing: Literal["allow", "deny"] = "allow"
    """Whether pods that no budget covers are restarted."""
    budget_unready: Literal["alwaysAllow", "ifHealthyBudget"] = "alwaysAllow"
    """Whether a pod that is not ready is restarted although a budget has no room, where the budget does not say so
    itself. Never more at a time than may be down in full health."""
    reserve_pub: bool = True
    reserve_pdb: bool = False
    """Whether a restart is written into the status of the budget first."""
    annotate_pods: bool = False
    """Whether the last decision is written into an annotation of the pod."""
    unready_after_ns: int | None = None
    """How long the agent of a node may be silent before the taken-over pods there become unready. None: for ever. The
    restart decision does not use it."""
