"""The ``probelet-simulate/1`` document: what a simulation found, and everything that a picture of it needs.

Times are seconds since the beginning of the simulation, with at most 3 decimals. Rates are requests per second. Lists
under ``series`` and ``attempts`` are columns: the n-th element of each belongs to the n-th point.
"""

from typing import Final, Literal, NotRequired, TypeAlias, TypedDict

from probelet.spec.model.probe import ProbeType

SCHEMA: Final = "probelet-simulate/1"

SERIES_POINTS_MAX: Final = 600
"""The points of one service's series: more would be narrower than a pixel of the picture."""

INCIDENTS_MAX: Final = 100
"""The incidents that the document keeps."""

POD_ATTEMPTS_MAX: Final = 2_000
"""The attempts that the document keeps of one pod; each probe's ``dropped`` counts the others."""

ATTEMPTS_MAX: Final = 20_000
"""The attempts that the document keeps of all pods."""

EVENTS_MAX: Final = 1_000
"""The events that the document keeps."""

PodState: TypeAlias = Literal["pending", "starting", "unready", "ready", "terminating", "back_off", "gone"]
"""``pending``: no container has run yet. ``starting``: a container runs and has not started up. ``unready``:
started up, and not in its Services. ``ready``: in its Services. ``terminating``: a container gets its grace, or the pod
is going. ``back_off``: a container waits for its restart. ``gone``: the pod is no more."""

Outcome: TypeAlias = Literal["s", "f", "t", "e"]
"""``s``: success. ``f``: an answer that says no, or no connection. ``t``: the timeout passed. ``e``: a prober error,
which counts for nothing."""


class FaultRow(TypedDict):
    """One fault of the scenario's timetable."""

    kind: str
    """Its kind, in the words of a scenario file."""
    target: str
    """The target of the fault: a dependency, a workload, a Service or a node."""
    label: str
    """One short phrase for people: ``auth answers in 1.5 s``."""
    from_seconds: float
    """When it begins."""
    to_seconds: float | None
    """When it ends; equal to ``from_seconds`` if it is a moment, null if it outlasts the simulation."""


class ScenarioRow(TypedDict):
    """The scenario that was played."""

    name: str
    """The name of a built-in, or of the file."""
    title: str
    """One line."""
    text: str
    """The purpose and the assumptions of the scenario, for people."""
    assumed: list[str]
    """The assumptions about the probes of these manifests: which of them ask a dependency."""
    duration_seconds: float
    """How long the simulation lasts."""
    faults: list[FaultRow]
    """The timetable, in the order of ``from_seconds``."""


class RequestsRow(TypedDict):
    """Requests, counted; ``served`` + ``lost`` = ``offered``."""

    offered: int
    """Requests that clients sent."""
    served: int
    """Requests answered within the client's timeout, the late ones included."""
    late: int
    """Requests served later than the Service's ``slo_seconds``."""
    lost: int
    """Requests without an endpoint, refused, cut off, or answered later than the client's timeout."""


class SeriesRow(TypedDict):
    """Step functions: a value holds until the next ``t``, the last one until the end."""

    t: list[float]
    """The times of the points; rising, the first is 0."""
    offered: list[float]
    """Requests per second that clients send."""
    served: list[float]
    """Requests per second answered within the client's timeout, the late ones included."""
    late: list[float]
    """Requests per second served later than the Service's ``slo_seconds``."""
    lost: list[float]
    """Requests per second lost."""
    endpoints: list[int]
    """The lowest number of endpoints until the next point."""
    wanted: list[int]
    """The replicas that the workload wants."""


class ServiceRow(TypedDict):
    """A Service and its requests."""

    name: str
    """``namespace/name``."""
    workload: str
    """The ``Kind/namespace/name`` of the workload behind it."""
    timeout_seconds: float
    """The client's timeout: a later answer is lost."""
    slo_seconds: float
    """A later answer is late."""
    totals: RequestsRow
    """The requests of the whole simulation."""
    series: SeriesRow
    """The requests over time, in at most 600 points; merged points keep the totals."""


class SpanRow(TypedDict):
    """A pod's state between two moments."""

    state: PodState
    """The state."""
    from_seconds: float
    """When it begins."""
    to_seconds: float
    """When it ends: the beginning of the next span, or the end of the simulation."""


class KillRow(TypedDict):
    """A container that a probe killed."""

    at_seconds: float
    """The moment of the verdict, before the grace."""
    container: str
    """The container."""
    probe_type: ProbeType
    """The probe: ``liveness`` or ``startup``."""
    reason_text: str
    """The message of the kubelet's ``Killing`` event."""


class ExitRow(TypedDict):
    """A container that ended, killed or by itself."""

    at_seconds: float
    """When."""
    container: str
    """The container."""
    exit_code: int
    """0 to 255."""
    reason: str
    """The status' reason: ``Error``, ``OOMKilled``, ``Completed``."""


class AttemptsRow(TypedDict):
    """Attempts of one probe, in the order of ``t``."""

    t: list[float]
    """When each began."""
    took: list[float]
    """How many seconds each took; a timeout takes the probe's timeout."""
    outcome: str
    """A letter for each: ``s`` success, ``f`` failure, ``t`` timeout, ``e`` prober error."""
    cause: list[str]
    """The cause of each, in the words of ``/statusz``: ``ok``, ``refused``, ``header_timeout``, ``status``."""


class ProbeRow(TypedDict):
    """A probe of one pod's container."""

    container: str
    """The container."""
    type: ProbeType
    """The probe's type."""
    timeout_seconds: float
    """``timeoutSeconds``."""
    period_seconds: float
    """``periodSeconds``."""
    failure_threshold: int
    """``failureThreshold``."""
    attempts: AttemptsRow
    """Its attempts. If there are too many, failures and changes stay longest."""
    dropped: int
    """The attempts that the document leaves out."""


class PodRow(TypedDict):
    """One pod, from its creation on."""

    name: str
    """``namespace/name``."""
    workload: str
    """The ``Kind/namespace/name`` of its workload."""
    node: str
    """The node it runs on."""
    version: int
    """The revision of the workload: 1, and one more with each rollout."""
    spans: list[SpanRow]
    """Its states, one after the other without a gap, from its creation on."""
    restarts: int
    """The restarts of its containers."""
    kills: list[KillRow]
    """The kills by probes, in order."""
    exits: list[ExitRow]
    """The ends of its containers, in order."""
    probes: list[ProbeRow]
    """Its probes."""


class EventRow(TypedDict):
    """An event of a pod, as the kubelet words it."""

    at_seconds: float
    """When."""
    pod: str
    """``namespace/name``."""
    reason: str
    """``Unhealthy``, ``Killing``, ``BackOff``."""
    message: str
    """The message."""


class IncidentRow(TypedDict):
    """One thing that went wrong, as the detector of incidents says at its end, or at the end of the simulation."""

    id: str
    """Its name in this document."""
    kind: Literal["prober", "node", "workload", "shared", "container"]
    """The thing at fault: ``prober``, which was late itself; one ``node``; one ``workload`` or its new version;
    something that several workloads have in common (``shared``); one ``container``."""
    from_seconds: float
    """When the first attempt of it failed."""
    said_seconds: float
    """When the detector said so first."""
    to_seconds: float | None
    """When next to nothing of it failed any more; null if it is open at the end."""
    shared: str
    """The sort of thing that all of it shares: ``target``, ``image``, ``rollout``, ``workload``, ``node`` or
    ``container``; empty if that has no name."""
    value: str
    """Its name."""
    cause: str
    """The most frequent cause, in the words of ``/statusz``."""
    evidence: str
    """Why these failures are one incident: one sentence."""
    pods: int
    """The pods that it touched."""
    containers: int
    """Their containers."""
    probes: int
    """Their probes that failed."""
    workloads: int
    """Their workloads."""
    nodes: int
    """Their nodes."""
    killed: int
    """Kills by probes meanwhile."""
    killed_for_nothing: int
    """Those while the kind was ``shared``, ``prober`` or ``node``, which a restart of a container does not mend."""
    affected: list[str]
    """Some of the containers, ``namespace/pod/container``."""


class VerdictRow(TypedDict):
    """The verdict of the simulation."""

    recovered: bool
    """True if at the end every workload has the ready replicas that it wants and no request is lost."""
    recovers_after_seconds: float | None
    """From the end of the last fault until the service is whole for good; 0 if nothing was wrong then. A fault without
    an end counts from its beginning. Null if the service never recovers."""
    first_unready_seconds: float | None
    """When the first ready pod left its Services; null if none did."""
    unready_pods_max: int
    """The most ready replicas that were missing at one moment, of all workloads together."""
    first_kill_seconds: float | None
    """The first kill by a probe; null if there was none."""
    kills: int
    """Kills by probes."""
    restarts: int
    """Restarts of containers."""
    requests: RequestsRow
    """The requests of all Services."""
    longest_outage_seconds: float
    """The longest time in which a Service that got requests served none."""


class ChangeRow(TypedDict):
    """A change of one field."""

    object: str
    """The manifest's object: ``Kind/namespace/name``."""
    path: str
    """The field, by its path in the object."""
    old: str
    """The field's value in the manifest, as YAML on one line; empty if the manifest does not have it."""
    new: str
    """The value that was tried; empty if the field was taken out."""


class AdviceRow(TypedDict):
    """A change of one field, or of several together, and what the same scenario comes to with it."""

    id: str
    """A short name of the advice, which stays from release to release."""
    object: str
    """The manifest's object: ``Kind/namespace/name``."""
    path: str
    """The field, by its path in the object."""
    old: str
    """The field's value in the manifest, as YAML on one line; empty if the manifest does not have it."""
    new: str
    """The value that was tried; empty if the field was taken out."""
    why: str
    """One sentence."""
    verdict: VerdictRow
    """The verdict of the same scenario and seed with this change alone."""
    also: NotRequired[list[ChangeRow]]
    """The changes that were made together with it; only where one field alone is not enough."""


class GuardRow(TypedDict):
    """Enhanced liveness decided about failed liveness probes for the whole cluster."""

    settings: dict[str, str]
    """The keys of the controller's ConfigMap that were set; the others have their defaults."""
    decisions: dict[str, int]
    """How often each reason decided, the most frequent one first. A failure that waits is decided about again."""


class RunRow(TypedDict):
    """One version of the manifests, played through the scenario."""

    manifests: list[str]
    """The files, as the command line names them."""
    played_seconds: float
    """How long the simulation went: the scenario's duration, or less if it was interrupted."""
    services: list[ServiceRow]
    """The Services with traffic."""
    pods: list[PodRow]
    """All pods that there ever were, by workload and then by creation."""
    events: list[EventRow]
    """The events of the pods, in order; if there are too many, the first of each pod and reason stay."""
    incidents: list[IncidentRow]
    """The incidents that the detector found, in the order in which they began; the largest stay if there are too
    many. It knows what the scenario says that probes ask, and nothing else of the scenario."""
    verdict: VerdictRow
    """The verdict."""
    findings: list[str]
    """The events and their causes, one sentence each, the most important one first."""
    advice: list[AdviceRow]
    """The changes to make, the one that saves most first."""
    guard: NotRequired[GuardRow]
    """Only where enhanced liveness decided instead of each kubelet."""


class SimulationRow(TypedDict):
    """The simulation of both versions of the manifests."""

    schema: Literal["probelet-simulate/1"]
    probelet: str
    """The version of probelet."""
    command: str
    """The command that plays the same simulation again."""
    seed: int
    """The seed of all randomness."""
    scenario: ScenarioRow
    """The scenario."""


class SimulateDocument(SimulationRow, RunRow):
    """A simulation of manifests under a scenario."""

    against: NotRequired[RunRow]
    """Only with ``--against``: the other version of the manifests, under the same scenario and seed. With ``--guard``:
    the same manifests with enhanced liveness."""
