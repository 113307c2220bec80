"""The fields that playing a recording needs; reading checks them, so that playing cannot fail on them."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

MS_MAX = 86_400_000
"""A day: longer than any recording, and short enough to play in seconds."""

Ms = Annotated[int, msgspec.Meta(ge=0, le=MS_MAX)]
Moment = Annotated[int, msgspec.Meta(ge=-(10**10), le=10**10)]
"""A start before the recording may be months earlier."""
ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
Phase = Literal["Failed", "Pending", "Running", "Succeeded", "Unknown"]


class Container(TypedDict):
    """A container in a status."""

    name: str
    state: Literal["running", "terminated", "waiting"]
    id: NotRequired[str]
    ready: NotRequired[bool]
    started: NotRequired[bool | None]
    started_at_ms: NotRequired[Moment]
    exit_code: NotRequired[ExitCode]


class Input(TypedDict):
    """An input of the prober."""

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
    """Any line with a time."""

    t_ms: Ms


class ResultLine(Timed):
    """A change of a result cache."""

    type: str
    container_id: str


class WorkersLine(Timed):
    """The workers at one time."""

    after: str
    workers: list[str]


class Sections(TypedDict):
    """The sections of a trace. A section that is only compared may hold anything."""

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
    """A change that the scripted runtime makes to a container."""

    state: Literal["none", "running", "terminated", "waiting"]
    id: NotRequired[str]
    started_at_ms: NotRequired[Moment]
    exit_code: NotRequired[ExitCode]


class Event(TypedDict):
    """An event outside the kubelet."""

    t_ms: Ms
    op: str
    pod: NotRequired[str]
    phase: NotRequired[Phase]
    no_wait: NotRequired[bool]
    containers: NotRequired[dict[str, Change] | None]
    desired: NotRequired[list[str] | None]


class Step(TypedDict):
    """The outcome of exec attempts."""

    outcome: Literal["error", "failure", "hang", "success", "timeout"]
    delay_ms: NotRequired[Ms | None]
    hang_ms: NotRequired[Ms | None]


class Glue(TypedDict):
    """The delays of the kubelet and its runtime."""

    sync_delay_ms: NotRequired[Ms]
    kill_ms: NotRequired[Ms]
    restart_ms: NotRequired[Ms]


class Named(TypedDict):
    """A container in a pod's spec."""

    name: str


class Spec(TypedDict):
    """A pod's spec: the containers that get probes."""

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
