"""Which container instances probing may see. A kubelet's own prober waits for the postStart hook; the agent learns of
the hook's end from the kubelet's status, and must not kill in its middle."""

from collections.abc import Iterable, Mapping

from probelet.agent.rules.api_pod import ApiContainer
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.spec.model.container import Container


class Begun:
    """The instances of one pod that have begun. One that has begun stays so until the runtime says that it ended.

    ``unwatched``: containers whose start nobody has to watch, because they have neither a postStart hook nor a startup
    probe of the kubelet's own. They begin by the runtime's word alone while the API server is away.
    """

    def __init__(self, unwatched: Iterable[str]) -> None:
        self._unwatched = frozenset(unwatched)
        self._ids: set[str] = set()

    def look(self, snapshot: Snapshot, known: Mapping[str, ApiContainer], *, is_away: bool) -> Snapshot:
        """The snapshot without the running instances that have not begun.

        ``known`` is what the kubelet wrote, by container; ``is_away``: it may be old, or missing.
        """
        alive = {record.id for record in snapshot.containers if record.state in (State.RUNNING, State.UNKNOWN)}
        self._ids &= alive
        for record in snapshot.running():
            told = known.get(record.name)
            is_told = told is not None and told.id == record.id and told.started
            if is_told or (is_away and record.name in self._unwatched):
                self._ids.add(record.id)
        seen = tuple(r for r in snapshot.containers if r.state is not State.RUNNING or r.id in self._ids)
        return Snapshot(snapshot.sandboxes, seen)

    def __contains__(self, container_id: str) -> bool:
        return container_id in self._ids


def is_unwatched(container: Container) -> bool:
    """Whether nothing of the kubelet's has to end before ``container``, as the API server has it, may be probed."""
    has_post_start = container.lifecycle is not None and container.lifecycle.post_start is not None
    return not has_post_start and container.startup_probe is None
