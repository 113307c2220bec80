"""The objects of the cluster: one mirror for each kind, and whether all of them are known and current.

The controller asks every minute for the kinds that a cluster may lack, OpenKruise's. A kind that everything needs and
that is not served keeps the controller from deciding, with a reason, and nothing else (F-9).
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from probelet.beside.guard.mapping import protocol as mapping
from probelet.beside.guard.objects.budget import Budget, BudgetKind, read_disruption_budget, read_unavailable_budget
from probelet.beside.guard.objects.node import GuardedNode, GuardedWorkload, read_node, read_workload
from probelet.beside.guard.objects.node_probes import NodeProbes, read_node_probes
from probelet.beside.guard.objects.pod import GuardedPod
from probelet.beside.guard.objects.probe_name import Naming
from probelet.beside.guard.objects.recreate_request import RecreateRequest, read_request
from probelet.beside.guard.recreate.not_ready import OutOfService
from probelet.beside.guard.restart.protocol import inputs as restart
from probelet.controller.pod_mirror import PodMirror
from probelet.kube import kinds
from probelet.kube.clock import Clock
from probelet.kube.connection import PAGE, Connection
from probelet.kube.kind import Kind
from probelet.kube.reflector import Reflector
from probelet.kube.served import ServedMirror

T = TypeVar("T")

NEEDED_WORKLOADS: Final = (kinds.DEPLOYMENTS, kinds.REPLICA_SETS, kinds.STATEFUL_SETS, kinds.DAEMON_SETS)
MAPPED: Final = (kinds.PODS, kinds.NODES)
"""The kinds that the mapping has to know before it writes; a NodePodProbe is read each time it is merged."""
NODE_PROBES_PAGE: Final = 25
"""NodePodProbes in a page of a list: one of a full node has 62 KiB, and the process keeps the memory that it needs for
a page."""
OPTIONAL_WORKLOADS: Final = (kinds.CLONE_SETS, kinds.ADVANCED_STATEFUL_SETS, kinds.ADVANCED_DAEMON_SETS)


class Handlers(msgspec.Struct, frozen=True):
    """The functions that handle changes."""

    mapping: Callable[[mapping.Input], None]
    restart: Callable[[restart.Input], None]
    settings: Callable[[dict[str, str] | None], None]
    """Gets the data of the ConfigMap; None if there is none."""
    requests: Callable[[RecreateRequest | None, RecreateRequest | None], None] = lambda before, now: None
    """Gets each change of a request, before and now."""
    pods: Callable[[str], None] = lambda uid: None
    """Gets the UID of each pod that changed."""
    out: Callable[[OutOfService], None] = lambda pod: None
    """Gets every pod, with the requests that keep it out of service."""


class Mirrors:
    """The mirrors of one leadership. ``naming``: of probes, ``namespace`` and ``config_map``: of the configuration."""

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        handlers: Handlers,
        naming: Naming,
        namespace: str,
        config_map: str,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._handlers = handlers
        self._up: dict[str, bool] = {}
        self._leads = False
        self._is_mappable = False
        self._is_synced = False
        self._config = self._needed(
            kinds.CONFIG_MAPS,
            _data,
            lambda _, now: handlers.settings(now),
            namespace=namespace,
            fields=f"metadata.name={config_map}",
        )
        self.pods = PodMirror(connection, clock, self._pod, self._needs(kinds.PODS), handlers.out)
        self._others: list[Reflector[Any]] = [
            self._needed(kinds.NODES, read_node, self._node),
            self._needed(
                kinds.NODE_POD_PROBES, lambda obj: read_node_probes(obj, naming), self._probes, page=NODE_PROBES_PAGE
            ),
            self._needed(kinds.CONTAINER_RECREATE_REQUESTS, read_request, self._request),
            *(self._needed(kind, _workload(kind), self._workload) for kind in NEEDED_WORKLOADS),
        ]
        pub, pdb = kinds.POD_UNAVAILABLE_BUDGETS, kinds.POD_DISRUPTION_BUDGETS
        self._optionals: list[ServedMirror[Any]] = [
            *(
                ServedMirror(connection, kind, _workload(kind), clock=clock, on_change=self._workload)
                for kind in OPTIONAL_WORKLOADS
            ),
            self._budgets(pub, "PodUnavailableBudget", read_unavailable_budget),
            self._budgets(pdb, "PodDisruptionBudget", read_disruption_budget),
        ]

    def begin(self) -> None:
        """This process leads from now on: mapping and decision may act as soon as they know everything."""
        self._leads = True
        self._check()

    def hurry(self) -> None:
        """The API server, which may have been away, answers: no mirror waits for it any longer. Each of them would
        decide by itself when to try again, and the decision needs the last one too."""
        self._config.hurry()
        self.pods.hurry()
        for needed in self._others:
            needed.hurry()
        for optional in self._optionals:
            optional.hurry()

    async def run(self) -> NoReturn:
        """Keeps the mirrors until the task is cancelled."""
        async with asyncio.TaskGroup() as group:
            # The configuration comes first: it may switch everything off.
            group.create_task(self._config.run())
            await self._config.synced.wait()
            if not self._config.items:
                self._handlers.settings(None)
            group.create_task(self.pods.run())
            for reflector in self._others:
                group.create_task(reflector.run())
            for mirror in self._optionals:
                group.create_task(mirror.run())
        raise AssertionError("the mirrors end only by cancellation")

    @property
    def is_synced(self) -> bool:
        """Whether the decision may act: everything is known and current."""
        return self._is_synced

    @property
    def why_not_synced(self) -> str | None:
        """Which kinds are not known or not current, in one line; None if everything is."""
        missing = sorted(resource for resource, is_up in self._up.items() if not is_up)
        return f"not read from the API server yet, or out of reach: {', '.join(missing)}" if missing else None

    # Mirrors.

    def _needed(
        self,
        kind: Kind,
        decode: Callable[[dict[str, Any]], T | None],
        on_change: Callable[[T | None, T | None], None],
        *,
        namespace: str = "",
        fields: str = "",
        page: int = PAGE,
    ) -> Reflector[T]:
        return Reflector(
            self._connection,
            kind,
            decode,
            clock=self._clock,
            on_change=on_change,
            on_connected=self._needs(kind),
            namespace=namespace,
            fields=fields,
            page=page,
        )

    def _needs(self, kind: Kind) -> Callable[[bool], None]:
        """Returns a callback for each change of whether a needed kind is known and current."""

        def connected(is_up: bool) -> None:
            self._up[kind.resource] = is_up
            self._check()

        self._up[kind.resource] = False
        return connected

    def _check(self) -> None:
        is_mappable = self._leads and all(self._up[kind.resource] for kind in MAPPED)
        if is_mappable != self._is_mappable:
            self._is_mappable = is_mappable
            self._handlers.mapping(mapping.Synced(is_mappable))
        is_synced = self._leads and all(self._up.values())
        if is_synced != self._is_synced:
            self._is_synced = is_synced
            self._handlers.restart(restart.Synced(is_synced))

    def _budgets(
        self, kind: Kind, budget: BudgetKind, decode: Callable[[dict[str, Any]], Budget]
    ) -> ServedMirror[Budget]:
        """The mirror of budgets, which the cluster may not serve. The decision waits for the first answer, so that it
        denies nothing for want of a list that is under way."""
        known = self._needs(kind)
        return ServedMirror(
            self._connection,
            kind,
            decode,
            clock=self._clock,
            on_change=self._budget,
            on_served=lambda state: self._handlers.restart(restart.BudgetsReadable(budget, state)),
            on_answer=lambda: known(True),
        )

    # Changes, from a mirror's pair of before and now to an input.

    def _pod(self, uid: str, now: GuardedPod | None) -> None:
        self._handlers.mapping(mapping.PodChanged(uid, now))
        self._handlers.restart(restart.PodChanged(uid, now))
        self._handlers.pods(uid)

    def _node(self, before: GuardedNode | None, now: GuardedNode | None) -> None:
        if before == now:
            return
        name = (now or before).name  # type: ignore[union-attr]
        self._handlers.mapping(mapping.NodeChanged(name, now))
        self._handlers.restart(restart.NodeChanged(name, now))

    def _probes(self, before: NodeProbes | None, now: NodeProbes | None) -> None:
        node = (now or before).node  # type: ignore[union-attr]
        self._handlers.mapping(mapping.ProbesChanged(node, None if now is None else now.generation))
        self._handlers.restart(restart.ProbesChanged(node, now))

    def _request(self, before: RecreateRequest | None, now: RecreateRequest | None) -> None:
        found = now or before
        assert found is not None
        self._handlers.restart(restart.RequestChanged((found.namespace, found.name), now))
        self._handlers.requests(before, now)

    def _budget(self, before: Budget | None, now: Budget | None) -> None:
        key = (now or before).key  # type: ignore[union-attr]
        self._handlers.restart(restart.BudgetChanged(key, now))

    def _workload(self, before: GuardedWorkload | None, now: GuardedWorkload | None) -> None:
        if before != now:
            uid = (now or before).uid  # type: ignore[union-attr]
            self._handlers.restart(restart.WorkloadChanged(uid, now))


def _workload(kind: Kind) -> Callable[[dict[str, Any]], GuardedWorkload]:
    return lambda obj: read_workload(obj, kind.api_version, kind.kind)


def _data(config_map: dict[str, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in (config_map.get("data") or {}).items()}
