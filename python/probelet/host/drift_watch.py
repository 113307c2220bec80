"""Notes how long starts and answers take, by image, and says what takes longer with a new one (``policy.drift``)."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias

from probelet.base.exposition.family import gauge, page
from probelet.host.incidents.watch import Deadlines
from probelet.policy.drift import SAMPLES_MIN, Answers, Measured, Releases, rise
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.incidents.subjects import workload_of
from probelet.policy.rules.grace import find_container
from probelet.policy.rules.kind import containers
from probelet.server.document.status import StatusHead
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import ProbeType
from probelet.spec.text.duration import MILLISECOND, SECOND

COUNTED_MAX: Final = 10_000
"""Instances whose start is known to have been counted; more than a node has containers."""

SAID_MAX: Final = 5
"""Sentences of each sort in a status document."""

READ_PERIOD_NS: Final = 60 * SECOND
"""From one look at the histories to the next: a probe with a period of one second fills one in that time."""

READ_MAX: Final = 200
"""Histories of a look: about a millisecond of the event loop (``benches/python/test_drift.py``)."""

AGAIN_NS: Final = SECOND
"""From a look at so many to the next one, which goes on with the others."""

SlowestAnswers: TypeAlias = Callable[[int], list[tuple[str, str, ProbeType, int]]]
"""``Engine.slowest_answers``."""


class WatchedPod(Protocol):
    """A pod whose answers count."""

    @property
    def pod(self) -> Pod:
        """The pod as it is probed."""

    @property
    def template(self) -> str:
        """``Kind/name`` of the object whose template made it; empty if its owner says that."""


class DriftWatch:
    """The owners of pods call ``begin`` once, and ``result`` with each result of a probe."""

    def __init__(self, timers: Deadlines, slowest_answers: SlowestAnswers) -> None:
        self._timers = timers
        self._slowest_answers = slowest_answers
        self._since_ms = timers.wall_ns() // MILLISECOND
        self._starts = Releases()
        self._answers = Answers()
        self._counted: OrderedDict[str, None] = OrderedDict()
        self._pods: Mapping[str, WatchedPod] = {}

    def begin(self, pods: Mapping[str, WatchedPod]) -> None:
        """From now on the answers of these pods, which are by UID, are read from the engine."""
        self._pods = pods
        self._read_after(READ_PERIOD_NS)

    def _read_after(self, wait_ns: int) -> None:
        self._timers.arm(self._timers.now() + wait_ns, self._read)

    def _read(self) -> None:
        now_s = self._timers.now() / SECOND
        slowest = self._slowest_answers(READ_MAX)
        for uid, name, probe_type, took_ns in slowest:
            # A pod may have ended meanwhile, and other agents' pods have no workload here.
            watched = self._pods.get(uid)
            container = None if watched is None else _named(watched.pod, name)
            probe = None if container is None else container.probes.get(probe_type)
            if watched is None or container is None or probe is None:
                continue
            of = Measured(_workload(watched.pod, watched.template), name, f"{probe_type} answers")
            self._answers.answered(now_s, of, container.image, took_ns / SECOND, probe.timeout_seconds)
        self._read_after(AGAIN_NS if len(slowest) == READ_MAX else READ_PERIOD_NS)

    def result(
        self, pod: Pod, probe_type: str, result: str | None, record: ContainerRecord | None, template: str = ""
    ) -> None:
        """A probe of a container has this result. The first success of its startup probe, or of readiness without one,
        ends its start; a container that ran before this process began counts for nothing."""
        if result != "Success" or record is None or record.started_at_ms < self._since_ms or record.id in self._counted:
            return
        container = find_container(pod, record.name)
        last = "readiness" if container.startup_probe is None else "startup"
        budget = budget_of(container)
        if probe_type != last or not budget:
            return
        self._counted[record.id] = None
        if len(self._counted) > COUNTED_MAX:
            self._counted.popitem(last=False)
        took = (self._timers.wall_ns() // MILLISECOND - record.started_at_ms) / 1_000
        self._starts.took(Measured(_workload(pod, template), container.name, "starts"), container.image, took, budget)

    def tell(self, head: StatusHead) -> None:
        """Puts what takes longer into the head of a status document."""
        said = []
        for releases, limit in ((self._starts, "budget"), (self._answers, "timeout")):
            sentences = [
                f"{found.of.workload} {found.of.container}: "
                + rise(found.of.what, found.compared, f"image {found.image}", limit)
                for found in releases.drifts()
            ]
            said += sentences[:SAID_MAX]
        too_few = [
            f"{of.workload} {of.container}: {count} starts with image {image}, and a comparison needs {SAMPLES_MIN}"
            for of, image, count in self._starts.too_few()
        ]
        said += too_few[:SAID_MAX]
        if said:
            head["drifts"] = said

    def metrics(self) -> bytes:
        """The series of the page ``/metrics``. No image is a label: a rollout would be a new series each."""
        measured = (("starts", self._starts), ("answers", self._answers))
        counts = [(name, sum(1 for _ in releases.drifts())) for name, releases in measured]
        help = "Containers of workloads whose starts or answers take longer with the newest image, towards their limit."
        return page(gauge("probelet_drifts", help, counts, "of"))


def budget_of(container: Container) -> int:
    """The seconds that every start may take for sure, as ``probelet explain`` says it; 0 if no probe kills."""
    killer = container.startup_probe or container.liveness_probe
    if killer is None:
        return 0
    return killer.initial_delay_seconds + (killer.failure_threshold - 1) * killer.period_seconds


def _named(pod: Pod, name: str) -> Container | None:
    return next((container for _, container in containers(pod) if container.name == name), None)


def _workload(pod: Pod, template: str) -> str:
    meta = pod.metadata
    return f"{meta.namespace}/{template or workload_of(pod) or f'Pod/{meta.name}'}"
