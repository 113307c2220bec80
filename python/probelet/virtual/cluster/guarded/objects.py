"""The objects of a virtual cluster as enhanced liveness reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from probelet.beside.guard.objects.budget import Budget
from probelet.beside.guard.objects.node import GuardedWorkload
from probelet.beside.guard.objects.node_probes import PodProbes, ProbeState, State, cut
from probelet.beside.guard.objects.owner import Owner
from probelet.beside.guard.objects.pod import GuardedContainer, GuardedPod
from probelet.beside.guard.objects.probe_name import probe_name
from probelet.policy.facts.snapshot import State as RuntimeState
from probelet.spec.model.disruption_budget import DisruptionBudget
from probelet.spec.rules.defaults import TERMINATION_GRACE_PERIOD_SECONDS
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.cluster.controllers.budget import BudgetStatus
from probelet.virtual.cluster.controllers.workload import Workload
from probelet.virtual.cluster.node.pod import ClusterPod, regular

CONTEXT: Final = "[]"
"""Stands for the annotation, whose probes the node runs already."""


@dataclass(slots=True)
class Result:
    """What a node last found out about a liveness probe."""

    container_id: str
    state: State
    since_ns: int
    message: str


def workload_uid(workload: Workload) -> str:
    """The UID of a workload, which has none of its own here."""
    return f"workload/{workload.name}"


def guarded_workload(workload: Workload) -> GuardedWorkload:
    """A workload with its replicas; a DaemonSet does not say how many it has."""
    replicas = None if workload.kind == "DaemonSet" else workload.wanted
    name = workload.name.rpartition("/")[2]
    return GuardedWorkload("apps/v1", workload.kind, workload.namespace, name, workload_uid(workload), replicas)


def guarded_pod(pod: ClusterPod, workload: Workload) -> GuardedPod:
    """A pod as its API object would say."""
    meta, spec = pod.pod.metadata, pod.pod.spec
    grace = spec.termination_grace_period_seconds
    owner = None
    if workload.kind != "Pod":
        owner = Owner("apps/v1", workload.kind, workload.name.rpartition("/")[2], workload_uid(workload))
    return GuardedPod(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        is_opted_in=True,
        context=CONTEXT,
        node=pod.node,
        is_active=not pod.is_terminating and not pod.is_gone,
        is_ready=pod.is_ready,
        restart_policy=spec.restart_policy or "Always",
        grace_seconds=TERMINATION_GRACE_PERIOD_SECONDS if grace is None else grace,
        labels=meta.labels,
        owner=owner,
        containers=tuple(_container(pod, name) for name in regular(pod.pod)),
    )


def _container(pod: ClusterPod, name: str) -> GuardedContainer:
    newest = pod.runtime.snapshot.newest(name)
    if newest is None:
        return GuardedContainer(name)
    is_running = newest.state is RuntimeState.RUNNING
    return GuardedContainer(
        name=name,
        container_id=newest.id,
        restart_count=newest.restart_count,
        is_ready=is_running and pod.is_ready,
        # The API shows whole seconds, of starts as of results.
        started_ns=(newest.started_at_ms or 0) // 1000 * 1000 * MILLISECOND if is_running else None,
    )


def pod_probes(pod: ClusterPod, results: Mapping[tuple[str, str], Result], now: int) -> PodProbes | None:
    """The liveness probes of a pod as its node publishes them; None if it has none."""
    probes = []
    for container in pod.pod.spec.containers:
        probe = container.liveness_probe
        if probe is None:
            continue
        found = results.get((pod.uid, container.name))
        probes.append(
            ProbeState(
                name=probe_name("seed", pod.name, container.name),
                container=container.name,
                state="Unknown" if found is None else found.state,
                probed_ns=now,
                since_ns=0 if found is None else found.since_ns,
                message="" if found is None else cut(found.message),
                period_seconds=probe.period_seconds,
                timeout_seconds=probe.timeout_seconds,
                grace_seconds=probe.termination_grace_period_seconds,
            )
        )
    return PodProbes(pod.pod.metadata.namespace, pod.name, pod.uid, tuple(probes)) if probes else None


def guarded_budget(namespace: str, name: str, budget: DisruptionBudget, status: BudgetStatus) -> Budget:
    """A PodDisruptionBudget with its present status. A pod that is not ready may always go, as with drains here."""
    return Budget(
        kind="PodDisruptionBudget",
        namespace=namespace,
        name=name,
        allowed=status.allowed,
        healthy=status.healthy,
        desired=status.desired,
        selector=budget.spec.selector,
        always_allows_unhealthy=True,
    )
