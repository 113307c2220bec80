"""The requests for one pod: one is carried out at a time, by one task, so a pod that hangs holds up no other."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from probelet.agent.recreate.order import Order
from probelet.agent.recreate.parts import ExecutorParts
from probelet.agent.recreate.stop import Stops
from probelet.agent.recreate.view import instances
from probelet.agent.recreate.writer import write
from probelet.beside.guard.objects.whole_request import WholeRequest
from probelet.beside.guard.recreate.execute import execute, pick, waiting
from probelet.beside.guard.recreate.situation import NodeView
from probelet.beside.pods.api_pod import ApiPod
from probelet.kube.error import KubeError
from probelet.kube.pace import Pace
from probelet.kube.waiting import done_within, ended
from probelet.spec.text.duration import MILLISECOND, SECOND

LIST_NS: Final = 3 * SECOND
"""How long a container may be missing from the cache before it counts as missing on the node: a list that begins when
the request arrives takes less, as long as the runtime answers."""

log = structlog.get_logger("probelet.agent")


class PodOrders:
    """The requests for the pod of ``uid``, by their own UID. ``is_up`` says whether the API server answers; ``on_over``
    gets each request that the executor has completed."""

    def __init__(
        self, uid: str, parts: ExecutorParts, stops: Stops, is_up: Callable[[], bool], on_over: Callable[[Order], None]
    ) -> None:
        self.uid = uid
        self.orders: dict[str, Order] = {}
        self.terminating = asyncio.Event()
        self.api: ApiPod | None = None
        """The pod by the API server; None while it has none of this UID on this node."""
        self._parts = parts
        self._stops = stops
        self._is_up = is_up
        self._on_over = on_over
        self._news = asyncio.Event()
        self._pace = Pace()
        self._begun: set[str] = set()
        # When the pace allows the next write after one that failed; None: at once.
        self._write_ns: int | None = None

    def look(self) -> None:
        """Something is new."""
        self._news.set()

    async def run(self) -> None:
        """Carries the requests out until none is left."""
        clock = self._parts.timers
        while self.orders:
            self._news.clear()
            again_ns = await self._pass()
            if again_ns is None:
                await self._news.wait()
                continue
            news = asyncio.ensure_future(self._news.wait())
            try:
                await done_within(clock, again_ns, news)
            finally:
                await ended(news)

    async def _pass(self) -> int | None:
        """One step; returns when the next one follows without news."""
        orders = {uid: order for uid, order in self.orders.items() if self._is_here(order.request)}
        picked, others = pick((order.request, order.progress) for order in orders.values())
        for other in others:
            orders[other.uid].progress = waiting(orders[other.uid].progress)
        again_ns = None
        if picked is not None:
            again_ns = await self._step(orders[picked.uid])
        return await self._write(again_ns)

    async def _step(self, order: Order) -> int | None:
        parts = self._parts
        snapshot = parts.cache.snapshot(self.uid)
        seen_ns = parts.timers.now() - order.seen_ns
        if not snapshot.containers and seen_ns < LIST_NS and not self.terminating.is_set():
            return LIST_NS - seen_ns
        step = execute(order.request, order.progress, self._view(order))
        if step.kill and self.api is not None:
            api, id = self.api, instances(order, snapshot)[step.kill].id
            self._begun.add(id)
            await self._stops.note(order, step.kill, id)
            parts.tasks.spawn(self._stop(order, step.kill, id, api))
        if step.progress != order.progress:
            order.progress = step.progress
            return 0
        return step.again_ns

    def _view(self, order: Order) -> NodeView:
        parts = self._parts
        now, snapshot = parts.timers.now(), parts.cache.snapshot(self.uid)
        return NodeView(
            instances=instances(order, snapshot),
            killing=frozenset(each.id for each in snapshot.containers if self._is_killing(each.id)),
            killed=order.killed,
            failures=order.failures,
            seen_ns=now - order.seen_ns,
            drained_ns=None if order.drained_ns is None else now - order.drained_ns,
            wall_ms=parts.timers.wall_ns() // MILLISECOND,
            runtime=parts.runtime,
            may_begin=self._is_up() and order.written.phase == order.progress.phase,
        )

    def _is_killing(self, id: str) -> bool:
        return id in self._begun or id in self._parts.kills

    def _is_here(self, request: WholeRequest) -> bool:
        """Whether the pod of this UID is the one that the request names. Labels are no proof: a user may write the UID
        of a pod in another namespace."""
        if self.api is None or self.terminating.is_set():
            return False
        return (self.api.namespace, self.api.name) == (request.namespace, request.pod_name)

    async def _stop(self, order: Order, container: str, id: str, api: ApiPod) -> None:
        try:
            error = await self._stops.stop(order, container, id, api, self.terminating)
            if error:
                order.failures[container] = error
        finally:
            self._begun.discard(id)
            self.look()

    async def _write(self, again_ns: int | None) -> int | None:
        """Writes what the API server does not have yet; returns when to go on."""
        now = self._parts.timers.now()
        if self._write_ns is not None and now < self._write_ns:
            return _sooner(again_ns, self._write_ns - now)
        for order in list(self.orders.values()):
            if order.progress == order.written or order.request.is_completed:
                continue
            try:
                await write(self._parts.connection, self._parts.timers, order)
            except KubeError as error:
                log.warning("request not written", request=order.request.full_name, problem=str(error))
                wait = self._pace.after_failure(self._parts.timers.now(), error.retry_after_ns)
                self._write_ns = self._parts.timers.now() + wait
                # The kill goes on; what is new is written when the server answers again.
                return _sooner(again_ns if again_ns else None, wait)
            if order.progress.is_completed:
                self._on_over(order)
        self._write_ns = None
        return again_ns


def _sooner(one: int | None, other: int) -> int:
    return other if one is None else min(one, other)
