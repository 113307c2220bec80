"""Whether the detector said the truth, and how soon."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from probelet.policy.incidents import Ended, Incident, Output
from probelet.virtual.cluster import History

from benches.incidents.world import Truth, World

IN_PERIODS: Final = 2.0
"""By then the class must be right, counted from the first attempt that failed."""
SLACK_SECONDS: Final = 0.1
"""Attempts end a few milliseconds more than a period apart, and the third failure is two periods after the first."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one cluster."""

    seed: int
    fault: str
    kind: str
    """The truth."""
    named: bool
    found: str
    """The kind of the largest incident by then; empty without one."""
    value: str
    """What that one names."""
    is_right: bool
    """The kind, and what it names where the detector can know it."""
    periods: float | None
    """When the detector put out the truth first, in periods after the first failed attempt."""
    since_fault: float | None
    """The same in periods after the fault."""
    others: int
    """Further incidents by then."""

    def row(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def judge(seed: int, world: World) -> Verdict | None:
    """The verdict about a random cluster; None if the fault made no attempt fail."""
    cluster = world.cluster
    said, history = cluster.incidents(named=world.named), cluster.history
    return verdict(seed, said, history, world.truth, named=world.named, other=world.other)


def verdict(
    seed: int, said: Sequence[tuple[float, Output]], history: History, truth: Truth, *, named: bool, other: str = ""
) -> Verdict | None:
    """The verdict about the detector's outputs; None if the fault made no attempt fail."""
    first = first_failure(history, truth.at, other)
    if first is None:
        return None
    deadline = first + IN_PERIODS * truth.period + SLACK_SECONDS
    opened: dict[str, Incident] = {}
    when: float | None = None
    for at, output in said:
        is_true = _is_true(truth, output.incident, named=named)
        if when is None and at >= truth.at and not isinstance(output, Ended) and is_true:
            when = at
        if truth.at <= at <= deadline:
            _take(opened, output)
    # Of several that are as large, one that is right will do.
    largest = max(
        opened.values(), key=lambda each: (each.counts.pods, _is_true(truth, each, named=named)), default=None
    )
    return Verdict(
        seed,
        truth.fault,
        truth.kind,
        named,
        largest.kind if largest is not None else "",
        largest.thing if largest is not None else "",
        largest is not None and _is_true(truth, largest, named=named),
        None if when is None else round((when - first) / truth.period, 3),
        None if when is None else round((when - truth.at) / truth.period, 3),
        max(0, len(opened) - 1),
    )


def _take(opened: dict[str, Incident], output: Output) -> None:
    # One that is over by then, because a restart has mended it, counts as the detector put it out last.
    if isinstance(output, Ended) and output.incident.merged_into:
        opened.pop(output.incident.id, None)
    else:
        opened[output.incident.id] = output.incident


def _is_true(truth: Truth, incident: Incident, *, named: bool) -> bool:
    if incident.kind != truth.kind:
        return False
    return not truth.value or incident.value == truth.value or (truth.kind == "shared" and not named)


def first_failure(history: History, since: float, other: str = "") -> float | None:
    """When the first attempt failed, or a container ended, after the fault, but for the workload ``other``; starting
    containers do fail."""
    pods = [pod for pod in history.pods if pod.workload != other]
    moments = [
        attempt.at + attempt.took
        for pod in pods
        for probe in pod.probes
        if probe.type != "startup"
        for attempt in probe.attempts
        if attempt.at + attempt.took > since
        and attempt.outcome != "success"
        and attempt.why not in ("starting", "exited")
    ]
    for pod in pods:
        deleted = next((span.start for span in pod.spans if span.state in ("terminating", "gone")), float("inf"))
        ends = [*(each.at for each in pod.exits), *(each.at for each in pod.kills)]
        moments += [at for at in ends if since <= at < deleted]
    return min(moments, default=None)
