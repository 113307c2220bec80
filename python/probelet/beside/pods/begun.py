"""Which container instances probing may see. A kubelet's own prober waits for the postStart hook; the agent learns of
the hook's end from the kubelet's status, and must not kill in its middle."""

from collections.abc import Collection, Iterable, Mapping

from msgspec.structs import replace

from probelet.beside.pods.api_pod import ApiContainer
from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.spec.model.container import Container


class Begun:
    """The instances of one pod that have begun. One that has begun stays so until the runtime says that it ended.

    ``unwatched``: containers whose start nobody has to watch, because they have neither a postStart hook nor a startup
    probe that a person wrote. They begin by the runtime's word alone while the API server is away.
    """

    def __init__(self, unwatched: Iterable[str]) -> None:
        self._unwatched = frozenset(unwatched)
        self._ids: set[str] = set()

    def observe(
        self,
        snapshot: Snapshot,
        known: Mapping[str, ApiContainer],
        *,
        is_away: bool,
        made_startups: Collection[str] = (),
    ) -> Snapshot:
        """The snapshot with the instances that have begun and the ended ones.

        A prober takes a container whose status names its ID but does not say that it runs for one that has failed
        (kubelet prober/worker.go:doProbe, 1.36). A kubelet creates and starts a container in one sync and shows no
        state in between, so an instance that is only created is not shown either. One that has begun, and whose state
        the runtime does not know because it has just started itself, runs on.

        ``known`` is what the kubelet wrote, by container; ``is_away``: it may be old, or missing. ``made_startups`` are
        the containers whose startup probe the webhook made of a readiness probe. Their liveness probe does not wait for
        it, or a container that hangs in its start-up would never be killed; so they begin once the kubelet shows that
        they run. A kubelet runs the postStart hook within a sync, and writes the status in the next one.
        """
        alive = {record.id for record in snapshot.containers if record.state in (State.RUNNING, State.UNKNOWN)}
        self._ids &= alive
        for record in snapshot.running():
            told = known.get(record.name)
            is_told = told is not None and told.id == record.id and _has_begun(told, record.name in made_startups)
            if is_told or (is_away and record.name in self._unwatched):
                self._ids.add(record.id)
        seen = (self._seen(record) for record in snapshot.containers)
        return Snapshot(snapshot.sandboxes, tuple(record for record in seen if record is not None))

    def _seen(self, record: ContainerRecord) -> ContainerRecord | None:
        if record.state in (State.ENDED, State.EXITED):
            return record
        return replace(record, state=State.RUNNING) if record.id in self._ids else None

    def __contains__(self, container_id: str) -> bool:
        return container_id in self._ids


def _has_begun(told: ApiContainer, has_made_startup: bool) -> bool:
    return told.state == "running" if has_made_startup else told.started


def is_unwatched(container: Container, made_startups: Collection[str]) -> bool:
    """Whether nothing of the kubelet's has to end before ``container``, as the API server has it, may be probed."""
    has_post_start = container.lifecycle is not None and container.lifecycle.post_start is not None
    return not has_post_start and (container.startup_probe is None or container.name in made_startups)
