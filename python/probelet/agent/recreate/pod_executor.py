"""The requests for one pod: one is carried out at a time, by one task, so a pod that hangs holds up no other."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from probelet.agent.recreate.parts import ExecutorParts
from probelet.agent.recreate.request_kills import RequestKills
from probelet.agent.recreate.writer import write
from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.recreate.execute import execute
from probelet.beside.guard.recreate.execution import Execution, next_execution
from probelet.beside.pods.api_pod import ApiPod
from probelet.kube.error import KubeError
from probelet.kube.pace import Pace
from probelet.kube.waiting import set_within
from probelet.spec.text.duration import MILLISECOND, SECOND

LIST_NS: Final = 3 * SECOND
"""How long a container may be missing from the cache before it counts as missing on the node: a list that begins when
the request arrives takes less, as long as the runtime answers."""

log = structlog.get_logger("probelet.agent")


class PodExecutor:
    """The requests for the pod of ``uid``, by their own UID. ``is_up`` says whether the API server answers; ``on_over``
    gets each request that the executor has completed."""

    def __init__(
        self,
        uid: str,
        parts: ExecutorParts,
        kills: RequestKills,
        is_up: Callable[[], bool],
        on_over: Callable[[Execution], None],
    ) -> None:
        self.uid = uid
        self.executions: dict[str, Execution] = {}
        self.terminating = asyncio.Event()
        self.api: ApiPod | None = None
        """The pod by the API server; None while it has none of this UID on this node."""
        self._parts = parts
        self._kills = kills
        self._is_up = is_up
        self._on_over = on_over
        self._news = asyncio.Event()
        self._pace = Pace()
        self._begun: set[str] = set()
        # When the pace allows the next write after one that failed; None: at once.
        self._write_ns: int | None = None

    def wake(self) -> None:
        """Something is new."""
        self._news.set()

    async def run(self) -> None:
        """Carries the requests out until none is left."""
        clock = self._parts.host.timers
        while self.executions:
            self._news.clear()
            again_ns = await self._pass()
            if again_ns is None:
                await self._news.wait()
            else:
                await set_within(clock, again_ns, self._news)

    async def _pass(self) -> int | None:
        """One step; returns when the next one follows without news."""
        picked = next_execution(each for each in self.executions.values() if self._is_here(each.request))
        return await self._write(None if picked is None else await self._step(picked))

    async def _step(self, execution: Execution) -> int | None:
        parts = self._parts
        snapshot = parts.host.cache.snapshot(self.uid)
        seen_ns = parts.host.timers.now() - execution.seen_ns
        if not snapshot.containers and seen_ns < LIST_NS and not self.terminating.is_set():
            return LIST_NS - seen_ns
        killing = frozenset(each.id for each in snapshot.containers if self._is_killing(each.id))
        observed = execution.observed(
            snapshot,
            killing,
            parts.host.timers.now(),
            wall_ms=parts.host.timers.wall_ns() // MILLISECOND,
            runtime=parts.host.inspection.runtime,
            is_up=self._is_up(),
        )
        step = execute(execution.request, execution.progress, observed)
        if step.kill and self.api is not None:
            api, id = self.api, observed.instances[step.kill].id
            self._begun.add(id)
            await self._kills.record(execution, step.kill, id)
            parts.host.tasks.spawn(self._stop(execution, step.kill, id, api))
        if step.progress != execution.progress:
            execution.progress = step.progress
            return 0
        return step.again_ns

    def _is_killing(self, id: str) -> bool:
        return id in self._begun or id in self._parts.kills

    def _is_here(self, request: RecreateRequest) -> bool:
        """Whether the pod of this UID is the one that the request names. Labels are no proof: a user may write the UID
        of a pod in another namespace."""
        if self.api is None or self.terminating.is_set():
            return False
        return (self.api.namespace, self.api.name) == (request.namespace, request.pod_name)

    async def _stop(self, execution: Execution, container: str, id: str, api: ApiPod) -> None:
        try:
            error = await self._kills.stop(execution, container, id, api, self.terminating)
            if error:
                execution.failures[container] = error
        finally:
            self._begun.discard(id)
            self.wake()

    async def _write(self, again_ns: int | None) -> int | None:
        """Writes what the API server does not have yet; returns when to go on."""
        now = self._parts.host.timers.now()
        if self._write_ns is not None and now < self._write_ns:
            return _sooner(again_ns, self._write_ns - now)
        for execution in list(self.executions.values()):
            if execution.progress == execution.written or execution.request.is_completed:
                continue
            try:
                await write(self._parts.connection, self._parts.host.timers, execution)
            except KubeError as error:
                log.warning("request not written", request=execution.request.full_name, problem=str(error))
                wait = self._pace.after_failure(self._parts.host.timers.now(), error.retry_after_ns)
                self._write_ns = self._parts.host.timers.now() + wait
                # The kill goes on; what is new is written when the server answers again.
                return _sooner(again_ns if again_ns else None, wait)
            if execution.progress.is_completed:
                self._on_over(execution)
        self._write_ns = None
        return again_ns


def _sooner(one: int | None, other: int) -> int:
    return other if one is None else min(one, other)
