"""Notes how long containers take to start, by image, and says what takes longer with a new one (``policy.drift``)."""

from collections import OrderedDict
from typing import Final

from probelet.base.exposition.family import gauge, page
from probelet.base.words import seconds
from probelet.host.incidents.subjects import workload_of
from probelet.kube.clock import Clock
from probelet.policy.drift import SAMPLES_MIN, Drift, Starts
from probelet.policy.facts.snapshot import ContainerRecord
from probelet.policy.rules.grace import find_container
from probelet.server.document.status import StatusHead
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import MILLISECOND

COUNTED_MAX: Final = 10_000
"""Instances whose start is known to have been counted; more than a node has containers."""

SAID_MAX: Final = 5
"""Sentences of each sort in a status document."""


class StartWatch:
    """The owners of pods call ``result`` with each result of a probe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since_ms = clock.wall_ns() // MILLISECOND
        self._starts = Starts()
        self._counted: OrderedDict[str, None] = OrderedDict()

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
        meta = pod.metadata
        workload = f"{meta.namespace}/{template or workload_of(pod) or f'Pod/{meta.name}'}"
        took = (self._clock.wall_ns() // MILLISECOND - record.started_at_ms) / 1_000
        self._starts.started(workload, container.name, container.image, took, budget)

    def tell(self, head: StatusHead) -> None:
        """Puts what takes longer into the head of a status document."""
        drifts = [sentence(found) for found in self._starts.drifts()]
        too_few = [
            f"{workload} {container}: {count} starts with image {image}, and a comparison needs {SAMPLES_MIN}"
            for workload, container, image, count in self._starts.too_few()
        ]
        if drifts or too_few:
            head["drifts"] = [*drifts[:SAID_MAX], *too_few[:SAID_MAX]]

    def metrics(self) -> bytes:
        """The series of the page ``/metrics``. No image is a label: a rollout would be a new series each."""
        count = sum(1 for _ in self._starts.drifts())
        help = "Containers of workloads whose starts take longer with the newest image, towards their start-up budget."
        return page(gauge("probelet_start_drifts", help, count))


def sentence(found: Drift) -> str:
    """One drift in words."""
    compared = found.compared
    return (
        f"{found.workload} {found.container}: the 99th percentile of starts went from {seconds(compared.before)} to "
        f"{seconds(compared.after)} with image {found.image}, the budget is {seconds(compared.limit)}"
    )


def budget_of(container: Container) -> int:
    """The seconds that every start may take for sure, as ``probelet explain`` says it; 0 if no probe kills."""
    killer = container.startup_probe or container.liveness_probe
    if killer is None:
        return 0
    return killer.initial_delay_seconds + (killer.failure_threshold - 1) * killer.period_seconds
