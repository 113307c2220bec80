"""Carries the management of requests out: their ends, the statuses of new containers, pods out of service."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from msgspec import ValidationError

from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.recreate_request import RecreateRequest, read_request
from probelet.beside.guard.objects.requested_pod import RequestedPod, read_requested_pod
from probelet.beside.guard.recreate.manage import (
    Age,
    Delete,
    Management,
    Patch,
    SetConditions,
    asks_for_unready,
    manage,
)
from probelet.beside.guard.recreate.not_ready import OutOfService, put_back
from probelet.controller.metrics import ControllerMetrics
from probelet.host.tasks import Tasks
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection, Object
from probelet.kube.error import Conflict, KubeError, NotFound
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS, PODS
from probelet.kube.pace import Pace
from probelet.kube.waiting import set_within

CALLS_MAX: Final = 16
"""Requests that are being read or written at the same time; OpenKruise's manager has three to ten workers."""

RequestName = tuple[str, str]
"""Namespace and name."""

log = structlog.get_logger("probelet.controller")


@dataclass(slots=True, eq=False)
class _Managed:
    """One request: its newest version, and since when this leader knows it."""

    request: RecreateRequest
    seen_ns: int
    pace: Pace = field(default_factory=Pace)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    is_gone: bool = False


class RequestReconciler:
    """The management of all requests in one leadership: a task for each request that may still need something. Before
    ``begin`` it notes what there is, and since when."""

    def __init__(self, connection: Connection, clock: Clock, metrics: ControllerMetrics, tasks: Tasks) -> None:
        self._connection = connection
        self._clock = clock
        self._metrics = metrics
        self._tasks = tasks
        self._managed: dict[RequestName, _Managed] = {}
        self._slots = asyncio.Semaphore(CALLS_MAX)
        # The requests that keep pods out of service, and the pods that are being put back.
        self._out: dict[tuple[str, str], OutOfService] = {}
        self._freeing: set[tuple[str, str]] = set()
        self._leads = False

    def begin(self) -> None:
        """This process leads from now on."""
        self._leads = True
        for managed in self._managed.values():
            self._tasks.spawn(self._manage(managed))

    def changed(self, before: RecreateRequest | None, now: RecreateRequest | None) -> None:
        """A request came, changed or is gone."""
        found = now or before
        assert found is not None, "a change has a side"
        name = (found.namespace, found.name)
        known = self._managed.get(name)
        if now is None or (known is not None and known.request.uid != now.uid):
            if known is not None:
                known.is_gone = True
                known.changed.set()
                del self._managed[name]
            known = None
        if now is None:
            return
        if known is not None:
            known.request = now
            known.changed.set()
            return
        managed = self._managed[name] = _Managed(now, self._clock.now())
        if self._leads:
            self._tasks.spawn(self._manage(managed))

    def pod_changed(self, uid: str) -> None:
        """A pod that the controller mirrors has changed: its requests need not wait for the next look."""
        for managed in self._managed.values():
            if managed.request.pod_uid == uid and not managed.request.is_completed:
                managed.changed.set()

    async def _manage(self, managed: _Managed) -> None:
        while not managed.is_gone:
            managed.changed.clear()
            try:
                async with self._slots:
                    again_ns = await self._once(managed)
            except (KubeError, ValidationError) as error:
                log.warning("request not managed", request=managed.request.full_name, problem=str(error))
                wait = error.retry_after_ns if isinstance(error, KubeError) else 0
                again_ns = managed.pace.after_failure(self._clock.now(), wait)
            await self._wait(managed, again_ns)

    async def _wait(self, managed: _Managed, again_ns: int | None) -> None:
        if again_ns is None:
            await managed.changed.wait()
        else:
            await set_within(self._clock, again_ns, managed.changed)

    async def _once(self, managed: _Managed) -> int | None:
        """Makes the next write; returns when to look again. Raises KubeError."""
        request = managed.request
        pod = await self._pod(request)
        now, wall = self._clock.now(), self._clock.wall_ns()
        age = Age(by_clock_ns=wall - request.created_ns, seen_ns=now - managed.seen_ns)
        found: Management = manage(request, pod, age, wall)
        if found.action is None:
            return found.again_ns
        try:
            await self._carry_out(found, managed, pod)
        except Conflict:
            # Somebody else wrote in between; the newest version says what is left to do.
            managed.request = read_request(await self._read(request))
        except NotFound:
            # The mirror will say so too.
            return None
        return 0

    async def _pod(self, request: RecreateRequest) -> RequestedPod | None:
        """The pod of that name. A request that is over needs it only to put it back into service."""
        if (request.is_completed or request.is_deleting) and not asks_for_unready(request):
            return None
        return await self._read_pod((request.namespace, request.pod_name))

    async def _read_pod(self, name: tuple[str, str]) -> RequestedPod | None:
        try:
            return read_requested_pod(await self._connection.get(PODS, name[1], name[0]))
        except NotFound:
            return None

    async def _read(self, request: RecreateRequest) -> Object:
        return await self._connection.get(CONTAINER_RECREATE_REQUESTS, request.name, request.namespace)

    async def _carry_out(self, found: Management, managed: _Managed, pod: RequestedPod | None) -> None:
        request = managed.request
        match found.action:
            case Patch(body, subresource, ends):
                # With its version the API server refuses the patch once somebody else has changed the request.
                own = {"uid": request.uid, "resourceVersion": request.version}
                patch = {**body, "metadata": {**own, **body.get("metadata", {})}}
                written = await self._connection.patch(
                    CONTAINER_RECREATE_REQUESTS,
                    request.name,
                    request.namespace,
                    patch,
                    type="merge",
                    subresource=subresource,
                )
                managed.request = read_request(written)
                if ends:
                    self._metrics.gave_up(ends)
                    log.info("request given up", request=request.full_name, why=ends)
            case Delete():
                await self._connection.delete(
                    CONTAINER_RECREATE_REQUESTS, request.name, request.namespace, uid=request.uid
                )
                log.info("request deleted", request=request.full_name, why="its ttlSecondsAfterFinished is over")
                managed.is_gone = True
            case SetConditions(conditions) if pod is not None:
                await self._set_conditions(pod, conditions)

    async def _set_conditions(self, pod: RequestedPod, conditions: list[dict[str, Any]]) -> None:
        body = {
            "metadata": {"uid": pod.uid, "resourceVersion": pod.version},
            "status": {"conditions": conditions},
        }
        await self._connection.patch(PODS, pod.name, pod.namespace, body, type="strategic", subresource="status")

    # Pods whose request is gone.

    def pod_is_out(self, pod: OutOfService) -> None:
        """These requests keep a pod out of service; none of almost every pod."""
        if pod.requests:
            self._out[pod.namespace, pod.name] = pod
        else:
            self._out.pop((pod.namespace, pod.name), None)

    def free(self) -> None:
        """Puts pods back whose request is gone. The caller knows all requests, and leads."""
        known = {(managed.request.full_name, managed.request.pod_uid) for managed in self._managed.values()}
        for name, pod in self._out.items():
            gone = [each for each in pod.requests if (each, pod.uid) not in known]
            if gone and name not in self._freeing:
                self._freeing.add(name)
                self._tasks.spawn(self._free(name, gone[0]))

    async def _free(self, name: tuple[str, str], request: str) -> None:
        try:
            pod = await self._read_pod(name)
            if pod is None:
                self._out.pop(name, None)
            elif conditions := put_back(pod, request, text(self._clock.wall_ns())):
                await self._set_conditions(pod, conditions)
                log.info("pod put back into service: its request is gone", pod="/".join(name), request=request)
        except (KubeError, ValidationError) as error:
            # The next look tries again.
            log.warning("pod not put back into service", pod="/".join(name), problem=str(error))
        finally:
            self._freeing.discard(name)
