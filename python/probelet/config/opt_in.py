"""``ProbeletConfiguration`` (probelet.dev/v1alpha1): every improvement over the kubelet, each off by default.

With nothing set a node behaves as the kubelet's own prober does.
"""

from typing import Literal

from probelet.config.kubelet import Duration, Section
from probelet.spec.model.meta import Int32
from probelet.spec.text.duration import MINUTE, SECOND

API_VERSION = "probelet.dev/v1alpha1"
KIND = "ProbeletConfiguration"


class RestartBudget(Section, frozen=True, kw_only=True):
    """A token bucket for restarts; it starts full."""

    burst: Int32 = 10
    """Restarts that may happen at once. Default 10; at least 1."""
    refill: Duration = MINUTE
    """One more restart is allowed after each such time. Default 1m; above 0."""


class ProbeletConfiguration(Section, frozen=True, kw_only=True):
    """The opt-ins. Durations are Go texts such as ``1m30s``."""

    api_version: str = API_VERSION
    kind: str = KIND

    phase: Literal["kubelet", "spread"] = "kubelet"
    """When a worker's runs fall: ``kubelet``, at once and then every period (default); ``spread``, from the second
    attempt on at a phase derived from the pod's UID, container and type, so that a rollout of many pods does not probe
    in step for ever. The first attempt is the kubelet's; the second comes one to two periods later."""
    event_wording: Literal["kubelet", "counted"] = "kubelet"
    """``counted`` says in Unhealthy events how far the failures have come, ``Liveness probe failed (2 of 3): ...``
    (kubernetes#115823). Default ``kubelet``: the kubelet's own words, which many parse."""
    started_carried_by: Literal["name", "id"] = "name"
    """What a status inherits ``started`` by: the container's name, as Kubernetes 1.36 does (default), or its ID, which
    fixes kubernetes#141155: a restarted container looks started before its startupProbe has passed."""
    starved_verdict: Literal["failure", "unknown"] = "failure"
    """An attempt whose time ran out while the prober itself was late: a failure, as for the kubelet (default), or
    ``unknown``: a prober error, tried again at once and counting for nothing (kubernetes#89898). So is one for which
    this machine had no socket or port left."""
    starved_share: float = 0.5
    """Lateness of our own loop, as a share of the probe's timeout, above which a run is starved. Default 0.5, above 0:
    half of the timeout was then not the container's."""
    deny_host_probes: bool = False
    """Refuse pods whose probes or hooks name a ``host`` (KEP-4940: Pod Security baseline, policy 1.34). Default false,
    because the rule is an API server's: the kubelet itself honours the host."""

    exec_single_flight: bool = False
    """Never start an exec run while an earlier one still hangs in the runtime. Default false, as the kubelet."""
    exec_max_in_flight: Int32 | None = None
    """Exec runs of the whole node at once, at least 1; others wait their turn. Default: no limit, as the kubelet."""
    exec_client_deadline: Duration | None = None
    """Give up an exec run this long after its own timeout, above 0, for runtimes that do not honour timeouts.
    Default: runtimeRequestTimeout, as the kubelet."""

    restore: Literal["kubelet", "full"] = "kubelet"
    """After a restart of probelet: ``kubelet``, as a kubelet does it: counters, holds and back-off start anew, and
    started and ready are what the runtime's containers give reason for (default); nothing is kept on disk then.
    ``full`` continues counters, holds, results and back-off from a journal in the state directory."""
    max_container_age: Duration | None = None
    """Restart containers before they have run for longer, spread over time, the pods of a controller one after another,
    under ``restartBudget``; above 0. Default: never, as the kubelet."""
    restart_budget: RestartBudget | None = None
    """Limits restarts of the whole node. Default: no limit, as the kubelet; those of ``maxContainerAge`` have a budget
    of their own then, a burst of 10 and one a minute."""

    restart_timer: Literal["exact", "kubelet"] = "exact"
    """When a container in back-off starts: when the delay is over (default), or ``kubelet``: when its sync loop would
    have looked again, up to 1.5 times later. So are syncs that failed and pulls in back-off."""
    first_restart: Literal["free", "delayed"] = "free"
    """The first restart of a container waits for nothing, as shipped (default), or ``delayed``: for the initial delay
    (kubernetes#123602)."""
    probe_kill_accounting: Literal["kubelet", "ownExit"] = "kubelet"
    """The exit a probe kill is measured from: the life before, as the kubelet (default), or ``ownExit``: its own."""
    reduced_curve_max: Literal["kep", "shipped"] = "kep"
    """The longest delay with both crash-loop gates on and nothing set: 60 s as KEP-4603 says (default), or
    ``shipped``: the 300 s that the kubelet's defaulting writes over it."""
    container_backoff_annotations: bool = False
    """Let pods choose the curve of a container by annotation (``probelet.dev/backoff: app=1s/30s``), within the next
    two. Default false."""
    container_backoff_min: Duration = SECOND
    """No delay that a pod chooses is shorter; a shorter one counts as this. Default 1s; above 0."""
    container_backoff_max: Duration = 300 * SECOND
    """No delay that a pod chooses is longer; may be longer than the kubelet allows. Default 5m; not below the
    minimum."""
    release_on_dependency: bool = False
    """Start containers that wait in back-off as soon as the probe they name as their dependency turns healthy
    (``probelet.dev/release-on: app=postgres/db/readiness``). Default false."""
