"""What a recording needs for being played: checked when it is read, so that playing it meets no surprise."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

MS_MAX = 86_400_000
"""A day: longer than any recording, and short enough to be played in seconds."""

Ms = Annotated[int, msgspec.Meta(ge=0, le=MS_MAX)]
Moment = Annotated[int, msgspec.Meta(ge=-(10**10), le=10**10)]
"""A start before the recording may lie months back."""
ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
Phase = Literal["Failed", "Pending", "Running", "Succeeded", "Unknown"]


class Container(TypedDict):
    """What a status says of a container."""

    name: str
    state: Literal["running", "terminated", "waiting"]
    id: NotRequired[str]
    ready: NotRequired[bool]
    started: NotRequired[bool | None]
    started_at_ms: NotRequired[Moment]
    exit_code: NotRequired[ExitCode]


class Input(TypedDict):
    """What the prober was told."""

    t_ms: Ms
    batch: int
    cause: str
    call: Literal[
        "add_pod",
        "cleanup_pods",
        "no_status",
        "remove_pod",
        "set_deletion_timestamp",
        "status",
        "stop_liveness_and_startup",
        "update_pod_status",
    ]
    pod: NotRequired[str]
    phase: NotRequired[Phase]
    pod_ip: NotRequired[str]
    containers: NotRequired[list[Container] | None]
    init_containers: NotRequired[list[Container] | None]
    deleting: NotRequired[bool]
    in_place: NotRequired[bool]
    desired: NotRequired[list[str] | None]


class EffectiveProbe(TypedDict):
    """A probe as the API server defaulted it."""

    pod: str
    container: str
    type: Literal["liveness", "readiness", "startup"]
    probe: dict[str, Any]


class Timed(TypedDict):
    """Any line that happened at a moment."""

    t_ms: Ms


class ResultLine(Timed):
    """A change of a result cache."""

    type: str
    container_id: str


class WorkersLine(Timed):
    """Which workers there were."""

    after: str
    workers: list[str]


class Sections(TypedDict):
    """The sections of a trace. What is only compared may say anything."""

    effective_probes: list[EffectiveProbe]
    inputs: list[Input]
    results: list[ResultLine]
    workers: list[WorkersLine]
    statuses: list[Timed]
    end_results: list[dict[str, Any]]
    end_metrics: list[dict[str, Any]]
    probes: NotRequired[list[Timed]]
    updates: NotRequired[list[Timed]]
    events: NotRequired[list[Timed]]


class Variant(TypedDict):
    """Another trace of the same scenario."""

    trace: Sections


class Change(TypedDict):
    """What the scripted runtime makes of a container."""

    state: Literal["none", "running", "terminated", "waiting"]
    id: NotRequired[str]
    started_at_ms: NotRequired[Moment]
    exit_code: NotRequired[ExitCode]


class Event(TypedDict):
    """What happened outside the kubelet."""

    t_ms: Ms
    op: str
    pod: NotRequired[str]
    phase: NotRequired[Phase]
    containers: NotRequired[dict[str, Change] | None]
    desired: NotRequired[list[str] | None]


class Step(TypedDict):
    """What exec attempts come to."""

    outcome: Literal["error", "failure", "hang", "success", "timeout"]
    delay_ms: NotRequired[Ms | None]
    hang_ms: NotRequired[Ms | None]


class Glue(TypedDict):
    """How long the kubelet and its runtime take."""

    sync_delay_ms: NotRequired[Ms]
    kill_ms: NotRequired[Ms]
    restart_ms: NotRequired[Ms]


class Named(TypedDict):
    """A container of a pod's spec."""

    name: str


class Spec(TypedDict):
    """A pod's spec, as far as probes are put into it."""

    containers: list[Named]
    initContainers: NotRequired[list[Named]]


class Pod(TypedDict):
    """A pod of a scenario."""

    spec: Spec


class Scene(TypedDict):
    """A scenario."""

    duration_ms: Ms
    pods: list[Pod]
    warmup_ms: NotRequired[Ms]
    kubelet_glue: NotRequired[Glue]
    scripts: NotRequired[dict[str, list[Step]]]
    events: NotRequired[list[Event]]


class Shape(TypedDict):
    """A whole recording."""

    scenario: Scene
    trace: Sections
    variants: NotRequired[list[Variant]]
