"""Which taken-over pods of a cluster are on nodes without a live agent, so that nobody probes them."""

from collections.abc import Iterable
from typing import Any, Final, Literal, TypedDict

import msgspec

from probelet.base.exposition.timestamp import rfc3339, unix_ms
from probelet.beside.takeover.lease import PREFIX
from probelet.beside.takeover.taken_pod import TakenPod

SKEW_MS: Final = 30_000
"""How far this machine's clock and a node's may be apart: a Lease counts as live for that much longer."""


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


class ClusterDocument(TypedDict):
    """The agents of a cluster, and the pods that lack one."""

    schema: Literal["probelet-cluster/1"]
    as_of: str
    """The moment of the document, on this machine's clock."""
    nodes: list[NodeCoverage]
    """By name."""
    uncovered: list[UncoveredPod]
    """By node, namespace and name."""


class _Meta(msgspec.Struct):
    name: str


class _LeaseSpec(msgspec.Struct, rename="camel"):
    renew_time: str | None = None
    lease_duration_seconds: int | None = None


class _Lease(msgspec.Struct):
    metadata: _Meta
    spec: _LeaseSpec | None = None


class AgentLease(msgspec.Struct, frozen=True):
    """The Lease of a node's agent. Times are Unix milliseconds; a Lease that was never renewed has 0."""

    node: str
    renewed_ms: int
    duration_ms: int

    def is_live(self, wall_ms: int) -> bool:
        """Whether an agent has renewed it in time."""
        return wall_ms - self.renewed_ms <= self.duration_ms + SKEW_MS


def agent_lease(found: dict[str, Any]) -> AgentLease | None:
    """The Lease of an agent, or None for another one. Raises msgspec.ValidationError or ValueError."""
    lease = msgspec.convert(found, _Lease)
    if not lease.metadata.name.startswith(PREFIX):
        return None
    spec = lease.spec or _LeaseSpec()
    renewed = unix_ms(spec.renew_time) if spec.renew_time else 0
    return AgentLease(lease.metadata.name.removeprefix(PREFIX), renewed, (spec.lease_duration_seconds or 0) * 1000)


def cluster_document(
    pods: Iterable[TakenPod | None], leases: Iterable[AgentLease | None], wall_ms: int
) -> ClusterDocument:
    """The document of these pods and Leases at ``wall_ms``."""
    by_node = {lease.node: lease for lease in leases if lease is not None}
    taken = sorted((pod for pod in pods if pod is not None), key=lambda pod: (pod.node, pod.namespace, pod.name))
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
    }
