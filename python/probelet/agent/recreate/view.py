"""The node as the decision about a request reads it, from the cache, the kills and what the executor noted."""

from typing import Final, Literal

from probelet.agent.recreate.order import Order
from probelet.beside.guard.recreate.situation import Instance
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State

_STATES: Final[dict[State, Literal["created", "running", "exited", "unknown"]]] = {
    State.CREATED: "created",
    State.RUNNING: "running",
    State.ENDED: "exited",
    State.EXITED: "exited",
    State.UNKNOWN: "unknown",
}


def instances(order: Order, snapshot: Snapshot) -> dict[str, Instance]:
    """The newest instance of each container of the request."""
    found = ((each.name, snapshot.newest(each.name)) for each in order.request.containers)
    return {name: _instance(record) for name, record in found if record is not None}


def _instance(record: ContainerRecord) -> Instance:
    return Instance(record.id, _STATES[record.state], record.restart_count, record.started_at_ms)
