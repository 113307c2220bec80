"""The parts of a recording. Times are Unix microseconds."""

from typing import Literal, TypeAlias

import msgspec

from probelet.spec.model.probe import ProbeType
from probelet.spec.model.probe_options import ProbeOptions

ResultName: TypeAlias = Literal["Success", "Failure", "Unknown"]


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a probe, defaulted; seconds and counts."""

    initial_delay_seconds: int
    timeout_seconds: int
    period_seconds: int
    success_threshold: int
    failure_threshold: int
    initialization_failure_threshold: int
    options: ProbeOptions | None = None
    """The options that its pod asks for and a kubelet does not have."""


class Result(msgspec.Struct, frozen=True):
    """A result that was published for a container."""

    at_us: int
    type: ProbeType
    container_id: str
    result: ResultName
    cause: str | None = None
    """Why the probe failed, in one word; None for a success, where no attempt said it, and in a play."""


class Kill(msgspec.Struct, frozen=True):
    """A verdict that ends a container: its liveness or startup probe failed while it ran."""

    at_us: int
    type: ProbeType
    container_id: str


class Life(msgspec.Struct, frozen=True):
    """A container from its start to its end. Times and the exit code are None where nobody said them."""

    container_id: str
    container: str
    ran_us: int | None
    ended_us: int | None
    exit_code: int | None


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts of a probe in numbers."""

    attempts: int
    failures: int
    errors: int
    """Attempts that ended in an error of the prober, which counts for nothing."""
    starved: int
    """Attempts that ran out of time while the prober itself was late."""
    total_us: int
    """How long all of them took together."""
    slow_us: int
    """How long 99 of 100 took at most."""
    late_us: int
    """How late 99 of 100 began at most."""


class RecordedContainer(msgspec.Struct, frozen=True):
    """A container of a pod's definition, and its attempts by the type of their probe."""

    name: str
    images: list[str]
    """The images that it had, in order; empty in a recording of an earlier release. More than one if its pod changed
    while it ran."""
    probes: dict[ProbeType, Numbers]
    seen: dict[ProbeType, Seen]


class RecordedPod(msgspec.Struct, frozen=True):
    """The recorded life of a pod in a stretch. ``attempts`` is how many are recorded."""

    uid: str
    namespace: str
    name: str
    from_us: int
    attempts: int
    containers: list[RecordedContainer]
    lives: list[Life]
    results: list[Result]
    kills: list[Kill]


class Stretch(msgspec.Struct, frozen=True):
    """The part of a recording that one engine wrote without a loss; ``lost`` entries are missing before it."""

    probelet: str
    lost: int
    from_us: int
    to_us: int
    pods: list[RecordedPod]


class Described(msgspec.Struct, frozen=True):
    """A whole recording without its attempts."""

    node: str
    lost: int
    cuts: list[str]
    stretches: list[Stretch]


class Played(msgspec.Struct, frozen=True):
    """The outcome of a play. The last three count its attempts by what answered them: an attempt of that moment, the
    latest one before, or nobody."""

    results: list[Result]
    kills: list[Kill]
    recorded: int
    carried: int
    unknown: int


class RecordedTurn(msgspec.Struct, frozen=True):
    """An attempt that says something new: the first one of a worker, a good one after a bad one, or one of the first
    ten bad ones in a row."""

    container: str
    type: ProbeType
    at_us: int
    is_good: bool
    cause: str
    late_us: int
    """How much later than it was due the attempt began."""


class Turned(msgspec.Struct, frozen=True):
    """The turns of a pod; ``gone_us`` is when the pod began to end, None if it did not."""

    turns: list[RecordedTurn]
    gone_us: int | None
