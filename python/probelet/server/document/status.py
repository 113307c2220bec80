"""``probelet-status/1``."""

from typing import Literal, NotRequired, TypedDict

from probelet.server.document.incident import IncidentDocument


class RunDocument(TypedDict):
    """The last finished run of a probe."""

    at: str
    """The end of the run."""
    outcome: str
    """``success``, ``warning``, ``failure`` or ``error``; an error is the prober's own and counts as no outcome."""
    cause: str
    """Why the run ended as it did, in one word: the label ``cause`` of the metrics has the same words."""
    message: str
    """The output of the probe, or the error."""
    duration_ms: float
    """How long the last attempt of the run took."""
    lateness_ms: float
    """The time between the moment at which the run was due and its beginning."""
    overdue_ms: float
    """Time in which the prober itself should have worked during the attempt and did not."""


class WindowDocument(TypedDict):
    """``failures`` of a probe's options: failures counted among the last runs."""

    of: int
    """How many runs count."""
    at: int
    """How many of them must have failed."""
    failed: int
    """How many of them have failed."""


class ErrorRuleDocument(TypedDict):
    """``errors`` of a probe's options: prober errors that count."""

    failure_after: int
    """The number in a row from which on an error is a failed run."""
    in_a_row: int
    """How many errors in a row there were; at most ``failure_after``."""


class NetworkDocument(TypedDict):
    """``network`` of a probe's options: from where its attempts are made."""

    made_from: Literal["pod", "node", "none"]
    """``pod``: inside the pod's network namespace. ``node``: the ordinary way. ``none``: the namespace cannot be
    entered, and each attempt is a prober error."""
    why: str | None
    """Why they are not made inside the pod; null if they are."""


class OptionsDocument(TypedDict):
    """The options of a probe (``probelet.dev/probe-options``) and their counts."""

    failures: WindowDocument | None
    """``failures``."""
    errors: ErrorRuleDocument | None
    """``errors``."""
    period_ms: int | None
    """``periodMilliseconds``."""
    slower_than_ms: int | None
    """``hysteresis.slowerThan`` in milliseconds."""
    until_ready_ms: int | None
    """``untilReady`` in milliseconds."""
    when_failing_ms: int | None
    """``whenFailing`` in milliseconds."""
    network: NetworkDocument | None
    """``network``."""


class AttemptDocument(TypedDict):
    """One attempt of a probe's history. The history is packed, so its times are rounded (``at`` to 1/64 of the time
    since the attempt before, ``duration_ms`` to 1/16 of itself, ``lateness_ms`` to 1/8); those of ``failures`` are
    exact."""

    at: str
    """The end of the attempt."""
    outcome: str
    """``success``, ``warning``, ``failure`` or ``error``."""
    cause: str
    """Why the attempt ended as it did, as in the last run."""
    duration_ms: float
    """How long the attempt took."""
    lateness_ms: float
    """The time between the moment at which the attempt was due and its beginning."""


class FailureDocument(AttemptDocument):
    """One failed attempt of a probe's history."""

    message: str
    """The first 256 bytes of the output of the probe, or of the error."""


class HistoryDocument(TypedDict):
    """The past of a probe, also of its container before a restart. After a restart of probelet itself it goes on with
    ``restore: full``; if probelet was killed, without the attempts that had only confirmed the result in force."""

    attempts: list[AttemptDocument]
    """The last attempts, oldest first, 64 at most."""
    failures: list[FailureDocument]
    """The last failed attempts, oldest first, four at most."""


class ProbeDocument(TypedDict):
    """One probe of a container."""

    handler: str | None
    """``httpGet``, ``tcpSocket``, ``grpc`` or ``exec``; null for a probe without one."""
    result: str | None
    """``Success``, ``Failure`` or ``Unknown``, the result in force; null before the container's first start."""
    result_run: int
    """How many runs in a row had the outcome of the last run."""
    failure_threshold: int
    """failureThreshold of the probe."""
    success_threshold: int
    """successThreshold of the probe."""
    on_hold: bool
    """True from a verdict that kills the container until the container is replaced: no run takes place."""
    runs: int
    """Finished runs of this container."""
    failures: int
    """Runs that failed."""
    errors: int
    """Runs with an error of the prober."""
    next_at: str | None
    """When the next run is due; null if none is."""
    paused_until: NotRequired[str]
    """Only in ``agent``, and only of a probe that ``probelet pause`` has paused: when its attempts begin again."""
    changed_at: NotRequired[str]
    """Only of a probe that has changed while its container ran (``probelet.dev/probe-changes``), as far as this
    probelet knows: when it changed last."""
    options: NotRequired[OptionsDocument]
    """Only of a probe with options (``probelet.dev/probe-options``)."""
    last: RunDocument | None
    """The last run; null before the first one has ended."""
    beats: str
    """The last attempts, 64 at most, oldest first, a character each: ``.`` good, ``~`` good but late by 100 ms or more,
    ``w`` warning, ``!`` failure, ``?`` prober error. Also those of the container before a restart."""
    history: NotRequired[HistoryDocument]
    """Only where it is asked for (``--history``), and only of a probe whose container has started."""


class LastExitDocument(TypedDict):
    """The last exit of a container."""

    at: str | None
    """The end of the container; null if it is not known."""
    exit_code: int
    """The exit code; 128 and the number of the signal for a kill."""
    reason: str
    """The reason in the API's words, such as ``Error`` or ``OOMKilled``."""
    message: str
    """The termination message."""


class BackoffDocument(TypedDict):
    """The wait of a container that crashed."""

    delay_seconds: float
    """The whole delay."""
    step: int
    """How often the delay has grown."""
    due_at: str
    """When the container starts."""


class HeldDocument(TypedDict):
    """A liveness kill that waits while a restart cannot help (``holdKills``)."""

    incident: str
    """The id of the incident for whose end it waits."""
    what: str
    """The incident's kind and what is shared, such as ``shared target db:5432``."""
    since: str
    """When the probe failed."""
    until: str
    """When the container is killed at the latest, unless it answers before."""


class ContainerDocument(TypedDict):
    """One container of a pod."""

    name: str
    """The name in the manifest."""
    kind: str
    """``regular``, ``init`` or ``sidecar``."""
    container_id: str
    """The ID, with the scheme of the runtime; empty before the first start."""
    state: str
    """``waiting``, ``running`` or ``terminated``."""
    reason: str
    """The reason of the state in the API's words, such as ``CrashLoopBackOff``."""
    message: str
    """The message that belongs to ``reason``."""
    exit_code: int | None
    """The exit code; null unless the state is ``terminated``."""
    restart_count: int
    """How often the container was restarted."""
    ready: bool
    """True if the container is ready, as its readiness probe says."""
    started: bool
    """True if the container has started, as its startup probe says."""
    last_exit: LastExitDocument | None
    """The last exit; null before the first one."""
    backoff: BackoffDocument | None
    """The wait for the next start; null if the container does not wait."""
    stopping_until: NotRequired[str]
    """Only in ``run``, and only of a container that is being stopped: when its grace is over."""
    held: NotRequired[HeldDocument]
    """Only of a container whose liveness kill waits."""
    probes: dict[str, ProbeDocument]
    """The probes that the manifest has, by type: ``liveness``, ``readiness``, ``startup``."""


class IgnoredField(TypedDict):
    """A field of a manifest without effect."""

    field: str
    """The path of the field."""
    reason: str
    """Why it has no effect."""


class ForeignListenerDocument(TypedDict):
    """A listener that answers probes in place of a pod."""

    port: int
    """The port of the pod's address."""
    listener: str
    """The socket's own address: ``0.0.0.0:8080``."""
    pod: str
    """``namespace/name`` of the owner; empty for a program outside of the pods."""
    container: str
    """The owner's container; empty for a program outside of the pods."""
    pid: int
    """A process that holds the socket; 0 if none was found."""
    program: str
    """The name of that process."""


class PodDocument(TypedDict):
    """One pod."""

    namespace: str
    """The namespace."""
    name: str
    """The name."""
    uid: str
    """The UID."""
    phase: str
    """``Pending``, ``Running``, ``Succeeded``, ``Failed`` or ``Unknown``."""
    reason: str
    """The reason of the phase in the API's words, such as ``DeadlineExceeded``; mostly empty."""
    message: str
    """The message that belongs to ``reason``."""
    ip: str
    """The address; empty before the sandbox has one."""
    ready: bool
    """True if the pod is ready; in ``agent``: if the condition of its readiness gate is true."""
    ready_reason: NotRequired[str]
    """Not in ``serve``: why the pod is not ready, in the API's words; empty for a ready pod."""
    ready_message: NotRequired[str]
    """Not in ``serve``: the message that belongs to ``ready_reason``."""
    ignored: NotRequired[list[IgnoredField]]
    """Only in ``run``: the fields of the manifest that have no effect."""
    stands_for: NotRequired[int]
    """Only in ``run``: how many pods the template asks for of which this one alone was made; 1 for any other pod."""
    misspelt: NotRequired[list[str]]
    """Only in ``run``: the fields of the manifest that no probe has, a line each; empty if there is none."""
    problems: NotRequired[list[str]]
    """Only in ``agent``: the parts of the pod's annotation that are ignored, a line each."""
    manifest_error: NotRequired[str | None]
    """Only in ``run``: the mistake because of which the pod runs an earlier manifest; null if there is none."""
    foreign_listeners: list[ForeignListenerDocument]
    """Other programs that answered probes of the pod (embedded runtime)."""
    containers: list[ContainerDocument]
    """Init containers first, then the others, in the order of the manifest."""


class MistakeDocument(TypedDict):
    """A mistake in a manifest."""

    path: str
    """The file."""
    line: int
    """The line, from 1; 0 for the whole file."""
    kind: str
    """The kind of the object; empty if it cannot be read."""
    namespace: str
    """The namespace of the object."""
    name: str
    """The name of the object."""
    field: str
    """The path of the field; empty for the whole object."""
    message: str
    """The mistake, and what is allowed."""


class StatusHead(TypedDict):
    """The head before the pods."""

    schema: Literal["probelet-status/1"]
    as_of: str
    """The moment of the document."""
    node: str
    """The name of the node."""
    manifest_errors: NotRequired[list[MistakeDocument]]
    """Only in ``run``: the first mistakes in the manifests."""
    manifest_errors_total: NotRequired[int]
    """Only in ``run``: the number of all mistakes in the manifests."""
    incidents: NotRequired[list[IncidentDocument]]
    """The first open incidents, ten at most; not where incidents are not looked for."""
    incidents_total: NotRequired[int]
    """The number of all open incidents."""
    drifts: NotRequired[list[str]]
    """Starts and answers that take longer with a new image, towards the start-up budget and the timeout; and new images
    with too few starts to say. A sentence each, fifteen at most; not where there are none."""


class StatusDocument(StatusHead):
    """Every pod and container with the state of its probes."""

    pods: list[PodDocument]
    """By namespace and name."""
