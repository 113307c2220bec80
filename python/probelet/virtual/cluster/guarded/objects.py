"""The objects of a virtual cluster as enhanced liveness reads them."""

from typing import Final

from probelet.beside.guard.objects.budget import Budget, unready_policy
from probelet.beside.guard.objects.node import GuardedWorkload
from probelet.beside.guard.objects.owner import Owner
from probelet.beside.guard.objects.pod import GuardedContainer, GuardedPod
from probelet.beside.guard.objects.requested_pod import RequestedContainer, RequestedPod
from probelet.policy.facts.snapshot import State as RuntimeState
from probelet.spec.model.disruption_budget import DisruptionBudget
from probelet.spec.model.pod import ContainerState, ContainerStateRunning, ContainerStatus
from probelet.spec.rules.defaults import TERMINATION_GRACE_PERIOD_SECONDS
from probelet.spec.text.duration import MILLISECOND
from probelet.virtual.cluster.controllers.budget import BudgetStatus
from probelet.virtual.cluster.controllers.workload import Workload
from probelet.virtual.cluster.node.pod import ClusterPod, regular

CONTEXT: Final = "[]"
"""Stands for the annotation, whose probes the node runs already."""


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


def requested_pod(pod: ClusterPod) -> RequestedPod:
    """A pod as the manager of requests reads it, and the webhook."""
    meta, spec = pod.pod.metadata, pod.pod.spec
    return RequestedPod(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        node=pod.node,
        phase="Running",
        is_terminating=pod.is_terminating,
        grace_seconds=spec.termination_grace_period_seconds,
        containers=tuple(RequestedContainer(name, status=_status(_container(pod, name))) for name in regular(pod.pod)),
    )


def _status(container: GuardedContainer) -> ContainerStatus:
    is_running = container.started_ns is not None
    return ContainerStatus(
        name=container.name,
        state=ContainerState(running=ContainerStateRunning() if is_running else None),
        ready=container.is_ready,
        restart_count=container.restart_count,
        container_id=container.container_id,
    )


def guarded_budget(namespace: str, name: str, budget: DisruptionBudget, status: BudgetStatus) -> Budget:
    """A PodDisruptionBudget with its present status."""
    return Budget(
        kind="PodDisruptionBudget",
        namespace=namespace,
        name=name,
        allowed=status.allowed,
        healthy=status.healthy,
        desired=status.desired,
        expected=status.expected,
        selector=budget.spec.selector,
        unready=unready_policy(budget.spec.unhealthy_pod_eviction_policy),
    )
