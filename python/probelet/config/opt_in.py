"""``ProbeletConfiguration`` (probelet.dev/v1alpha1): the improvements over the kubelet, each off by default.

Without any of them a node behaves like the kubelet's own prober. ``incidents`` is on by default, because it only says
what it sees.
"""

from typing import Annotated, Literal

import msgspec

from probelet.config.kubelet import QUANTITY, Count, Duration, DurationAboveZero, Section
from probelet.spec.annotation.hold_kills import HoldChoice
from probelet.spec.annotation.option_values import CAUSES
from probelet.spec.model.meta import Int32
from probelet.spec.text.duration import MINUTE, SECOND

API_VERSION = "probelet.dev/v1alpha1"
KIND = "ProbeletConfiguration"

# A quantity that is there, for the schema that editors read.
_SIZE = {"pattern": QUANTITY.replace("^", "^(?=.)", 1)}
_URL = msgspec.Meta(
    extra={"range": "http or https URL without a user"}, extra_json_schema={"pattern": r"^https?://[^\s/?#@]+"}
)

# Older spellings of options, which files may still use -> the names they have now.
ALIASES = {"phase": "schedule"}


class RestartBudget(Section, frozen=True, kw_only=True):
    """A token bucket for restarts; it starts full."""

    burst: Count = 10
    """Restarts that may happen together. Default 10; at least 1."""
    refill: DurationAboveZero = MINUTE
    """Time after which the bucket gains one restart. Default 1m; above 0."""


_PACE = msgspec.Meta(extra={"range": "at least 50ms"})
_CAUSES = msgspec.Meta(
    extra={"range": f"at least one of {', '.join(CAUSES)}"},
    extra_json_schema={"items": {"enum": list(CAUSES)}, "minItems": 1},
)
_WINDOW = msgspec.Meta(extra={"range": "1 to 64"}, extra_json_schema={"minimum": 1, "maximum": 64})


class DefaultFailures(Section, frozen=True, kw_only=True):
    """A failure is at least ``at`` failed runs among the last ``of``."""

    of: Annotated[Int32, _WINDOW] = 10
    """How many runs count, 1 to 64. Default 10."""
    at: Annotated[Int32, _WINDOW] = 4
    """How many of them must have failed, 1 to ``of``. Default 4."""


class DefaultErrors(Section, frozen=True, kw_only=True):
    """Prober errors in a row that count as failed runs."""

    failure_after: Count = 3
    """The number in a row from which on an error is a failed run, at least 1. Default 3."""
    causes: Annotated[list[str], _CAUSES] | None = None
    """Only errors of these causes: ``body``, ``cri``, ``port``, ``request``. Default: all."""


class DefaultHysteresis(Section, frozen=True, kw_only=True):
    """Successes that count half."""

    slower_than: DurationAboveZero = SECOND
    """A success that took longer counts half; above 0. Default 1s."""


class DefaultOptions(Section, frozen=True, kw_only=True):
    """The options of all probes of a type whose pods do not name them."""

    failures: DefaultFailures | None = None
    """Count failures among the last runs. Default: ``failureThreshold`` in a row."""
    errors: DefaultErrors | None = None
    """Let prober errors count. Default: they count for nothing."""
    period_milliseconds: Annotated[Int32, msgspec.Meta(extra_json_schema={"minimum": 50})] | None = None
    """Milliseconds from one attempt to the next, at least 50, for probes with a longer period. Default: their own."""
    until_ready: Annotated[DurationAboveZero, _PACE] | None = None
    """The same before the first success, at least 50ms. Default: the ordinary period."""
    when_failing: Annotated[DurationAboveZero, _PACE] | None = None
    """The same after a failure, at least 50ms. Default: the ordinary period."""
    network: Literal["pod"] | None = None
    """Make the attempts of HTTP, TCP and gRPC probes from inside their pod's network (``pod``). Default: from the
    node."""
    network_fallback: Literal["error", "ordinary"] | None = None
    """Behaviour where that network cannot be entered: an error that counts for nothing (``error``), or an attempt from
    the node (``ordinary``). Only beside ``network``. Default: ``error``."""


class DefaultReadinessOptions(DefaultOptions, frozen=True, kw_only=True):
    """The same of readiness probes, which may have a hysteresis too."""

    hysteresis: DefaultHysteresis | None = None
    """Let slow successes count half. Default: a success is a success."""


class ProbeOptionDefaults(Section, frozen=True, kw_only=True):
    """The options of probes of a type where the annotation of their pod says nothing."""

    liveness_probe: DefaultOptions | None = None
    """The options of liveness probes. Default: none."""
    readiness_probe: DefaultReadinessOptions | None = None
    """The options of readiness probes. Default: none."""
    startup_probe: DefaultOptions | None = None
    """The options of startup probes. Default: none."""


class FlightRecorder(Section, frozen=True, kw_only=True):
    """Records the attempts and results of probes in a ring of files; ``probelet whatif`` plays it with other
    settings."""

    size: Annotated[str, msgspec.Meta(extra={"range": "1Mi to 16Gi"}, extra_json_schema=_SIZE)] = "64Mi"
    """Bytes that the ring may have on disk, a quantity from 1Mi to 16Gi. Default 64Mi: eight million attempts."""


class ProbeletConfiguration(Section, frozen=True, kw_only=True):
    """The opt-ins. Durations are Go texts such as ``1m30s``."""

    api_version: str = API_VERSION
    kind: str = KIND

    schedule: Literal["kubelet", "spread"] = "kubelet"
    """The times of a worker's runs. ``kubelet`` (default): at once, then every period. ``spread``: from the second run
    on at an offset within the period, derived from the pod's UID, container and type, so that a rollout of many pods
    does not probe in step for ever. The first run is the kubelet's; the second follows one to two periods later. An
    offset is a multiple of 10 ms, so that probes of one moment share a wake-up."""
    wake_slack: Annotated[Duration, msgspec.Meta(extra={"range": "0 to 100ms"})] = 0
    """The longest time that a probe may be late so that it shares a wake-up with others, which costs less CPU; it is
    never early. Default 0, at most 100ms. Any probe may be 1 ms late for that reason, and 4 ms on a node of exec probes
    alone; probes that ``schedule: spread`` put together do not wait. The kubelet has a timer for each worker."""
    event_wording: Literal["kubelet", "counted"] = "kubelet"
    """``counted`` adds the count of failures to Unhealthy events, ``Liveness probe failed (2 of 3): ...``
    (kubernetes#115823). Default ``kubelet``: the kubelet's text, which many tools parse."""
    started_carried_by: Literal["name", "id"] = "name"
    """The key by which a status inherits ``started``: the container's name, as in Kubernetes 1.36 (default), or its ID,
    which fixes kubernetes#141155: a restarted container looks started before its startupProbe has passed."""
    starved_verdict: Literal["failure", "unknown"] = "failure"
    """The result of an attempt that timed out while the prober itself was late: a failure, as for the kubelet
    (default), or ``unknown``: a prober error, repeated at once and not counted (kubernetes#89898). An attempt that got
    no descriptor, port or thread on this machine is a prober error with either value."""
    starved_share: Annotated[float, msgspec.Meta(extra_json_schema={"exclusiveMinimum": 0})] = 0.5
    """An attempt counts as starved if our own loop was late by more than this share of the timeout. Default 0.5: the
    prober, not the container, then used half of the timeout. Above 0."""
    deny_host_probes: bool = False
    """Refuse pods whose probes or hooks name a ``host`` (KEP-4940: Pod Security baseline, policy 1.34). Default false,
    because an API server enforces this rule; the kubelet itself connects to the host."""

    probe_options: bool = False
    """Let pods ask for more of their probes than a kubelet gives, by annotation (``probelet.dev/probe-options``):
    failures counted in a window, prober errors that count, attempts between the ordinary ones, attempts from inside the
    pod's network. Default false: the annotation is without effect."""
    extra_attempts_per_second: Count = 1000
    """Limit of the attempts a second that all probes of the node together make between their ordinary ones, at least 1.
    Probes that want more than their share get the same; ordinary attempts do not count. Default 1000; only with
    ``probeOptions``."""

    probe_option_defaults: ProbeOptionDefaults | None = None
    """Options that every probe of a type has, unless its pod's annotation names others. Default: none; only with
    ``probeOptions``."""

    probe_changes: bool = False
    """Let the probes of a pod that asks for it (``probelet.dev/probe-changes: live``) change while its containers run:
    in ``run`` with their manifest, in ``agent`` with the annotations of the pod. Workers go on with their counts.
    Default false: as for the kubelet, other probes need another pod."""

    exec_mode: Literal["cri", "direct"] = "cri"
    """The way of exec probes into containers. ``cri`` (default): ExecSync of the runtime, as in the kubelet.
    ``direct``: a helper enters the container itself, confined as the runtime's own exec, for a tenth of the cost. What
    it cannot confine exactly, for example a container with an AppArmor profile, goes over the runtime. Needs root and
    containerd."""
    exec_single_flight: bool = False
    """Do not start an exec run while an earlier one still hangs in the runtime. Default false, as in the kubelet."""
    exec_max_in_flight: Count | None = None
    """Limit of concurrent exec runs on the node, at least 1; others wait. Default: no limit, as in the kubelet."""
    exec_client_deadline: DurationAboveZero | None = None
    """Abandon an exec run this long after its own timeout, for runtimes that ignore timeouts; above 0.
    Default: runtimeRequestTimeout, as in the kubelet."""

    restore: Literal["kubelet", "full"] = "kubelet"
    """The state after a restart of probelet. ``kubelet`` (default): counters, holds and back-off start anew, and the
    runtime's containers determine started and ready; probelet keeps nothing on disk. ``full``: a journal in the state
    directory restores counters, holds, results and back-off."""
    flight_recorder: FlightRecorder | None = None
    """Record each attempt's end, each result and each container's start and exit in the state directory, without paths,
    headers, commands and outputs of probes. Default: nothing is recorded; the kubelet has no recorder."""
    incidents: bool = True
    """Say what many failures have in common: ``probelet incidents``, metrics, and an event at the beginning and at the
    end of each incident. Default true: by itself it changes no probe and no kill, and the attempts of a probe that is
    well do not reach Python. The kubelet has no such events."""
    hold_kills: HoldChoice = "off"
    """Let the liveness kill of a container wait while an incident is open that a restart does not mend. ``prober``: one
    in which probelet itself is late. ``shared``: also one in which several workloads share what is at fault; few
    restarts go on as trials. Default ``off``, as in the kubelet: no kill waits. A pod chooses for itself by
    annotation (``probelet.dev/hold-kills``). Needs ``incidents``."""
    hold_kills_for: DurationAboveZero = 5 * MINUTE
    """How long such a kill waits at most, above 0. Default 5m."""
    incident_webhook: Annotated[str, _URL] | None = None
    """Send incidents to an Alertmanager by its API v2, such as ``http://alertmanager:9093/api/v2/alerts``: their
    beginning, their end, and every minute the open ones. Default: probelet sends none. Needs ``incidents``."""
    max_container_age: DurationAboveZero | None = None
    """Restart a container before it has run for longer, within ``restartBudget``: spread over time, and one pod of a
    controller after another; above 0. Default: never, as in the kubelet."""
    restart_budget: RestartBudget | None = None
    """Limit of restarts on the whole node. Default: no limit, as in the kubelet; ``maxContainerAge`` then has a budget
    of its own, a burst of 10 and one per minute."""

    restart_timer: Literal["exact", "kubelet"] = "exact"
    """The start of a container in back-off: at the end of its delay (default), or ``kubelet``: at the sync that would
    notice it, up to 1.5 times later. The same holds for failed syncs and for pulls in back-off."""
    first_restart: Literal["free", "delayed"] = "free"
    """``free`` (default): a container's first restart waits for nothing, as shipped. ``delayed``: it waits for the
    initial delay (kubernetes#123602)."""
    probe_kill_accounting: Literal["kubelet", "ownExit"] = "kubelet"
    """The exit that starts the delay after a probe kill: the one before, as in the kubelet (default), or its own."""
    reduced_curve_max: Literal["kep", "shipped"] = "kep"
    """The longest delay with both crash-loop gates on and no value set: ``kep``, the 60 s of KEP-4603 (default), or
    ``shipped``, the 300 s that the kubelet's defaulting writes instead."""
    container_backoff_annotations: bool = False
    """Let pods choose a container's curve by annotation (``probelet.dev/backoff: app=1s/30s``), between
    ``containerBackoffMin`` and ``containerBackoffMax``. Default false."""
    container_backoff_min: DurationAboveZero = SECOND
    """Lower limit of a delay that a pod chooses; a shorter delay becomes this. Default 1s; above 0."""
    container_backoff_max: DurationAboveZero = 300 * SECOND
    """Upper limit of a delay that a pod chooses; it may exceed the kubelet's own maximum. Default 5m; not below
    ``containerBackoffMin``."""
    release_on_dependency: bool = False
    """Start a container in back-off as soon as the probe that it names as its dependency succeeds
    (``probelet.dev/release-on: app=postgres/db/readiness``). Default false."""
