"""The outcome of a scene, as a document."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from probelet.lab.backoff.life import restarts as model_restarts
from probelet.lab.stress.expected import expected, modelled
from probelet.lab.stress.gate import Decision, ObservedGate
from probelet.lab.stress.pods import STAYING, pod_number
from probelet.lab.stress.scene import Scene
from probelet.lab.stress.sink import SLOT_NS, ApiSink
from probelet.spec.text.duration import MILLISECOND, SECOND


class Spread(msgspec.Struct, frozen=True):
    """Milliseconds. All zero when there was nothing to measure."""

    p50: float = 0
    """The median."""
    p99: float = 0
    """The 99th percentile."""
    max: float = 0
    """The maximum."""


class Bucket(msgspec.Struct, frozen=True):
    """How many were above the bucket before and not above this one; ``le_ms`` is None for the last."""

    le_ms: float | None
    """The upper bound; None for the last bucket, which has none."""
    count: int
    """How many there were."""


LATENESS_MS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)


class Memory(msgspec.Struct, frozen=True):
    """The sizes of the tables that a node keeps for its crash loops."""

    entries: int
    """Of the back-off table when the scene ended."""
    entries_after_gc: int
    """Entries ten minutes and one housekeeping after the last pod ended: there must be none."""
    timers: int
    """Armed when the scene ended: how large the heap of deadlines is."""


class Cost(msgspec.Struct, frozen=True):
    """The CPU time and memory of a real run, after its warm-up."""

    cpu_ms_per_restart: float
    """User and system time of the node service, the part that does the kubelet's work."""
    cpu_ms_per_restart_range: tuple[float, float]
    """The least and the most of all runs of the scene."""
    runtime_cpu_ms_per_restart: float
    """Of the runtime and its containers."""
    resident_bytes: int
    """The memory of the node service at the end."""
    resident_bytes_max: int
    """The most memory of the node service."""
    start_decision_ms: Spread
    """From the moment a start was due to the decision."""
    start_ms: Spread
    """From the moment a start was due until the container ran, its start cost included."""
    burst_restarts_per_second: float
    """How fast containers that were due together were started; the median. 0 without such."""


class Outcome(msgspec.Struct, frozen=True):
    """One scene that was played."""

    name: str
    """The curve and every field of the scene that differs from the base."""
    scene: Scene
    """The pods of the node and what happens to them."""
    clock: Literal["virtual", "real"]
    """Whether the scene was played in virtual time or with real processes."""
    seconds: float
    """The length of the scene."""
    restarts: int
    """The restarts of all containers."""
    expected_restarts: int | None
    """The model's figure; None where the model makes no statement."""
    exact: bool | None
    """Whether every restart came at the nanosecond of the model; None for a real clock."""
    early: int
    """Restarts before the end of their back-off: there must be none."""
    status_changes: int
    """Changes of the statuses of pods."""
    status_writes: int
    """Statuses that the API server is sent."""
    writes_per_restart: float
    """Writes for each restart."""
    writes_per_10_seconds: list[int]
    """Writes in each ten seconds since the first start."""
    write_delay_ms: Spread
    """From the first change that a write shows to the write."""
    pods_waiting_max: int
    """The most pods that waited for the API client's token bucket."""
    lateness: list[Bucket]
    """Of starts after a back-off: from its end to the decision. Of a real run those after the warm-up."""
    memory: Memory
    """The sizes of the node's tables."""
    cost: Cost | None = None
    """The cost of a real run; None in virtual time."""


def spread(lengths_ns: Sequence[int]) -> Spread:
    """Median, 99th percentile and maximum."""
    if not lengths_ns:
        return Spread()
    ordered = sorted(lengths_ns)

    def at(part: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(part * len(ordered)))] / MILLISECOND, 3)

    return Spread(at(0.5), at(0.99), round(ordered[-1] / MILLISECOND, 3))


def histogram(lengths_ns: Sequence[int]) -> list[Bucket]:
    """Counts by ``LATENESS_MS``; the last count is above every bound."""
    edges = [edge * MILLISECOND for edge in LATENESS_MS]
    counts = Counter(bisect_left(edges, length) for length in lengths_ns)
    return [Bucket(edge, counts[place]) for place, edge in enumerate((*LATENESS_MS, None))]


def crashing(gate: ObservedGate) -> dict[tuple[int, str], list[Decision]]:
    """Starts by pod number and container, without the containers that stay."""
    found = {}
    for key, starts in gate.starts.items():
        _, _, uid, container, _ = key.split("/", 4)
        if container != STAYING:
            found[pod_number(uid), container] = starts
    return found


def judge(
    scene: Scene,
    gate: ObservedGate,
    sink: ApiSink,
    until_ns: int,
    memory: Memory,
    *,
    began_ns: int = 0,
    counted_ns: int = 0,
    cost: Cost | None = None,
) -> Outcome:
    """The document of a scene that was played for ``until_ns`` from ``began_ns`` of the gate's clock on.

    Without a ``cost`` it was played in virtual time. Lateness counts from ``counted_ns`` of that clock on.
    """
    restarts, wanted, exact, early = 0, 0, True, 0
    within: dict[tuple[int, int], list[int] | None] = {}
    delays = [restart.delay_ns for restart in model_restarts(scene.shape, count=100)]
    for (pod, _), starts in crashing(gate).items():
        first = starts[0].at_ns
        times = [start.at_ns - first for start in starts[1:]]
        ask = (scene.exit_code(pod), began_ns + until_ns - first)
        if ask not in within:
            within[ask] = expected(scene, *ask)
        model = within[ask]
        restarts += len(times)
        wanted += len(model or ())
        exact &= model is None or model == times
        # Whatever else holds: a container that runs for no ten minutes waits its delay out after each exit.
        early += sum(start.due_ns is not None and start.at_ns < start.due_ns for start in starts)
        if not scene.kill_ns and scene.run_ns + delays[-1] < scene.shape.reset_ns:
            pairs = zip(starts[1:], [*delays, *[delays[-1]] * len(starts)], strict=False)
            early += sum(start.at_ns - (start.finished_ns or 0) < delay for start, delay in pairs)
    compared = expected(scene, 1, 0) is not None and not (cost and scene.kill_ns)
    slots = range(max(sink.writes_in, default=-1) + 1)
    return Outcome(
        name=scene.name,
        scene=scene,
        clock="real" if cost else "virtual",
        seconds=until_ns / SECOND,
        restarts=restarts,
        expected_restarts=wanted if compared else None,
        exact=exact if compared and cost is None else None,
        early=early,
        status_changes=sink.changes,
        status_writes=sink.writes,
        writes_per_restart=round(sink.writes / restarts, 2) if restarts else 0,
        writes_per_10_seconds=[sink.writes_in[slot] for slot in slots],
        write_delay_ms=spread(sink.ages_ns),
        pods_waiting_max=sink.waiting_max,
        lateness=histogram(gate.lateness_ns(counted_ns)),
        memory=memory,
        cost=cost,
    )


def shortened(scene: Scene, until_ns: int, restarts_max: int) -> int:
    """The time in which a scene has at most this many restarts: whole slots of ten seconds, at least one."""
    containers = scene.pods * max(1, scene.containers - 1)
    while until_ns > SLOT_NS and containers * len(modelled(scene, 1, until_ns)) > restarts_max:
        until_ns = max(SLOT_NS, until_ns // 2 // SLOT_NS * SLOT_NS)
    return until_ns
