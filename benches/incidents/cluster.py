"""The memory that the controller's detector takes with 20,000 pods on 200 nodes, which all fail in one incident.

The objects that nodes and pods are in the API are made before: the controller's mirrors have them in any case.
"""

import tracemalloc
from collections.abc import Iterator
from typing import Any, Final

from probelet.beside.guard.objects.node_probes import NodeProbes, PodProbes, ProbeState
from probelet.beside.guard.objects.owner import Owner
from probelet.beside.guard.objects.pod import GuardedContainer, GuardedPod
from probelet.beside.guard.restart.protocol.inputs import PodChanged, ProbesChanged
from probelet.beside.incidents.cluster import PODS_MAX, Change, ClusterIncidents
from probelet.beside.incidents.noticed import Ended, Known, Noticed
from probelet.daemon.asked_hosts import asked_hosts
from probelet.host.incidents.watch import IncidentWatch
from probelet.spec.text.duration import MILLISECOND, SECOND

from tests.unit.beside.incidents.cluster import Deadlines

NODES: Final = 200
WORKLOADS: Final = 500
PERIOD: Final = 10
ROUNDS: Final = 4
"""How often each node writes that its probes fail."""


def cluster(pods: int = PODS_MAX, nodes: int = NODES) -> dict[str, Any]:
    """The figures: KiB that its knowledge of the pods takes while they are well, and what the incident adds."""
    made = [_pod(number, nodes) for number in range(pods)]
    known: list[Change] = [PodChanged(pod.uid, pod) for pod in made]
    states = [[*_states(made, nodes, failed=failed)] for failed in range(ROUNDS + 1)]
    reader = _Reader()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    reader.take(known)
    reader.take(states[0])
    reader.settle()
    well, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for failed in states[1:]:
        reader.take(failed)
    reader.settle()
    settled, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    [incident] = reader.watch.open
    return {
        "pods": incident.counts.pods,
        "nodes": nodes,
        "known_kib": round((well - before) / 1024),
        "kib": round((settled - well) / 1024),
        "peak_kib": round((peak - well) / 1024),
        "evidence": incident.evidence,
    }


class _Reader:
    """The detector as the controller feeds it."""

    def __init__(self) -> None:
        self._clock = Deadlines()
        self._incidents = ClusterIncidents(asked_hosts, 180_000)
        self.watch = IncidentWatch(self._clock, "cluster")
        self.watch.begin()

    def take(self, changes: list[Change]) -> None:
        """These changes arrive within a period."""
        step = PERIOD * SECOND // len(changes)
        for change in changes:
            self._clock.advance(step)
            self._tell(self._incidents.handle(self._now_ms, change))
            self._tell(self._incidents.passed(self._now_ms))

    def settle(self) -> None:
        """A minute passes without changes, so that an incident is what it stays."""
        for _ in range(60):
            self._clock.advance(SECOND)
            self._tell(self._incidents.passed(self._now_ms))

    @property
    def _now_ms(self) -> int:
        return self._clock.wall_ns() // MILLISECOND

    def _tell(self, found: list[Noticed]) -> None:
        for noticed in found:
            match noticed:
                case Known(subjects, revision):
                    self.watch.know(subjects, revision)
                case Ended(turns):
                    self.watch.take_turns(turns)
                case _:
                    raise AssertionError(f"{noticed}: no pod goes, and nothing is restarted")


def _pod(number: int, nodes: int) -> GuardedPod:
    app = f"app-{number % WORKLOADS}"
    return GuardedPod(
        namespace="default",
        name=f"{app}-{number}",
        uid=f"uid-{number}",
        is_opted_in=True,
        context="",
        node=f"node-{number % nodes}",
        labels={"pod-template-hash": "1"},
        owner=Owner("apps/v1", "ReplicaSet", f"{app}-1", app),
        containers=(GuardedContainer("app", app),),
        depends_on="db:5432",
    )


def _states(pods: list[GuardedPod], nodes: int, *, failed: int) -> Iterator[Change]:
    """The states that the nodes write the ``failed``-th time that their probes fail; 0 while they are well."""
    for first in range(nodes):
        node = f"node-{first}"
        probes = {
            pod.uid: PodProbes("default", pod.name, pod.uid, (_state(pod, failed),)) for pod in pods[first::nodes]
        }
        yield ProbesChanged(node, NodeProbes(node, probes))


def _state(pod: GuardedPod, failed: int) -> ProbeState:
    # Each state is read from an object of its own, so each has a string of its own.
    cause = b"header_timeout".decode() if failed else ""
    return ProbeState(
        f"{pod.name}-app",
        "app",
        "Failed" if failed > 1 else "Succeeded",
        probed_ns=failed,
        since_ns=min(failed, 2),
        is_failing=failed > 0,
        cause=cause,
        period_seconds=PERIOD,
    )
