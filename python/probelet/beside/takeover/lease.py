"""The Lease of a node's agent: one that is renewed says that the node has an agent."""

from typing import Any, Final

import msgspec

from probelet.base.exposition.timestamp import unix_ms
from probelet.spec.model.meta import Object, ObjectMeta

_PREFIX: Final = "probelet-agent-"

SKEW_MS: Final = 30_000
"""How far the clock of a machine and a node's may be apart: a Lease counts as live for that much longer."""


def lease_name(node: str) -> str:
    """The name of the Lease of a node's agent."""
    return f"{_PREFIX}{node}"


class _Spec(Object, frozen=True, kw_only=True):
    renew_time: str | None = None
    lease_duration_seconds: int | None = None


class _Lease(Object, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: _Spec | None = None


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
    name = lease.metadata.name
    if not name.startswith(_PREFIX):
        return None
    spec = lease.spec or _Spec()
    renewed = unix_ms(spec.renew_time) if spec.renew_time else 0
    return AgentLease(name.removeprefix(_PREFIX), renewed, (spec.lease_duration_seconds or 0) * 1000)
