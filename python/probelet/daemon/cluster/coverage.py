"""Which taken-over pods of a cluster are on nodes without a live agent: what ``probelet status --cluster`` shows."""

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypedDict

from probelet.base.exposition.timestamp import rfc3339
from probelet.beside.pods.missed import MissedPod, missed_pod
from probelet.beside.takeover.lease import AgentLease, agent_lease
from probelet.beside.takeover.namespace import SELECTOR, name_of_asking
from probelet.beside.takeover.taken_pod import TakenPod, taken_pod
from probelet.errors import DaemonError
from probelet.kube.connection import Connection
from probelet.kube.error import KubeConfigError, KubeError
from probelet.kube.kinds import LEASES, NAMESPACES, PODS


class NodeCoverage(TypedDict):
    """A node that has taken-over pods, or an agent's Lease."""

    node: str
    """The name of the node."""
    agent: Literal["live", "expired", "none"]
    """Whether its agent's Lease is renewed, is too old, or is not there."""
    renewed_at: str | None
    """When the Lease was last renewed; null without one."""
    pods: int
    """How many taken-over pods it has."""


class UncoveredPod(TypedDict):
    """A taken-over pod that no agent probes."""

    namespace: str
    """The namespace."""
    name: str
    """The name."""
    node: str
    """The node, whose agent's Lease is not live."""
    ready: bool
    """The condition of its readiness gate, as the last agent left it."""


class NativePod(TypedDict):
    """A pod that asked for probelet, and whose probes are its kubelet's all the same."""

    namespace: str
    """The namespace."""
    name: str
    """The name."""
    node: str
    """The node, whose kubelet makes the probes."""
    why: str
    """Says what the pod asked for, and what helps."""


class ClusterDocument(TypedDict):
    """The agents of a cluster, and the pods that lack one."""

    schema: Literal["probelet-cluster/1"]
    as_of: str
    """The moment of the document, on this machine's clock."""
    nodes: list[NodeCoverage]
    """By name."""
    uncovered: list[UncoveredPod]
    """By node, namespace and name."""
    native: list[NativePod]
    """Pods that were created while the webhook was away, or before the label of their namespace, by node, namespace and
    name."""


def coverage(kubeconfig: Path | None, context: str, namespace: str) -> ClusterDocument:
    """The document of the cluster. Raises DaemonError, one line, if it cannot be asked."""
    try:
        return asyncio.run(_coverage(kubeconfig, context, namespace))
    except (KubeConfigError, KubeError) as error:
        raise DaemonError(str(error)) from error
    except ValueError as error:
        raise DaemonError(f"the API server's answer cannot be read: {error}") from error


async def _coverage(kubeconfig: Path | None, context: str, namespace: str) -> ClusterDocument:
    async with Connection.found(kubeconfig, context) as connection:
        leases = await connection.list_as(LEASES, agent_lease, namespace)
        named = await connection.list_as(NAMESPACES, lambda found: name_of_asking(found, namespace), labels=SELECTOR)
        asking = frozenset(name for name in named.items if name)
        # No selector finds an annotation, and the label may have gone since the pod was created.
        pods = await connection.list_as(PODS, lambda found: (taken_pod(found), missed_pod(found, namespace, asking)))
    taken, missed = [pod for pod, _ in pods.items], [pod for _, pod in pods.items]
    return cluster_document(taken, missed, leases.items, round(time.time() * 1000))


def cluster_document(
    pods: Iterable[TakenPod | None],
    missed: Iterable[MissedPod | None],
    leases: Iterable[AgentLease | None],
    wall_ms: int,
) -> ClusterDocument:
    """The document of these pods and Leases at ``wall_ms``."""
    by_node = {lease.node: lease for lease in leases if lease is not None}
    taken = sorted((pod for pod in pods if pod is not None), key=_place)
    counts: dict[str, int] = dict.fromkeys(by_node, 0)
    for pod in taken:
        counts[pod.node] = counts.get(pod.node, 0) + 1

    def is_live(node: str) -> bool:
        return node in by_node and by_node[node].is_live(wall_ms)

    def row(node: str) -> NodeCoverage:
        lease = by_node.get(node)
        agent: Literal["live", "expired", "none"] = "live" if is_live(node) else "none" if lease is None else "expired"
        renewed = rfc3339(lease.renewed_ms) if lease is not None and lease.renewed_ms else None
        return {"node": node, "agent": agent, "renewed_at": renewed, "pods": counts[node]}

    uncovered: list[UncoveredPod] = [
        {"namespace": pod.namespace, "name": pod.name, "node": pod.node, "ready": pod.ready}
        for pod in taken
        if not is_live(pod.node)
    ]
    return {
        "schema": "probelet-cluster/1",
        "as_of": rfc3339(wall_ms),
        "nodes": [row(node) for node in sorted(counts)],
        "uncovered": uncovered,
        "native": [
            {"namespace": pod.namespace, "name": pod.name, "node": pod.node, "why": pod.why}
            for pod in sorted((pod for pod in missed if pod is not None), key=_place)
        ],
    }


def _place(pod: TakenPod | MissedPod) -> tuple[str, str, str]:
    return pod.node, pod.namespace, pod.name
