"""The executor of this node: which requests there are, and a task for each of their pods."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NoReturn

import structlog

from probelet.agent.recreate.parts import ExecutorParts
from probelet.agent.recreate.pod_executor import PodExecutor
from probelet.agent.recreate.request_kills import RequestKills
from probelet.agent.state.records import Intent
from probelet.beside.guard.names import ACTIVE, NODE_NAME
from probelet.beside.guard.objects.recreate_request import RecreateRequest, read_request
from probelet.beside.guard.recreate.execution import Execution
from probelet.beside.pods.api_pod import ApiPod
from probelet.kube.error import Forbidden, KubeError, NotFound
from probelet.kube.kinds import CONTAINER_RECREATE_REQUESTS
from probelet.kube.pace import Pace
from probelet.kube.reflector import Reflector
from probelet.spec.text.duration import SECOND

LOOK_NS: Final = 300 * SECOND
"""How often the agent asks for a kind that is not served, or that it may not read, without a ``ask_now``: most
clusters never have it."""

log = structlog.get_logger("probelet.agent")


class Executor:
    """Carries requests out from ``run`` on. ``counts``: requests that are over, by how they ended."""

    def __init__(self, parts: ExecutorParts) -> None:
        self.counts: Counter[str] = Counter()
        self._parts = parts
        self._kills = RequestKills(parts)
        self._pods: dict[str, PodExecutor] = {}
        # Every pod of the node that the API server has, by UID.
        self._known: dict[str, ApiPod] = {}
        self._terminating: dict[str, asyncio.Event] = {}
        self._notes: dict[str, dict[str, str]] = {}
        self._is_asked = asyncio.Event()
        self._reflector: Reflector[RecreateRequest] = Reflector(
            parts.connection,
            CONTAINER_RECREATE_REQUESTS,
            _decode,
            clock=parts.host.timers,
            on_change=self._changed,
            on_connected=self._connected,
            labels=f"{NODE_NAME}={parts.host.node},{ACTIVE}=true",
        )

    def __contains__(self, uid: object) -> bool:
        """Whether the runtime's containers of this pod are to be in the cache."""
        return uid in self._pods

    def __len__(self) -> int:
        """Requests that are not over."""
        return sum(len(pod.executions) for pod in self._pods.values())

    # What is new.

    def pod_changed(self, before: ApiPod | None, now: ApiPod | None) -> None:
        """The API server's word on a pod of the node, taken over or not."""
        if now is not None:
            self._known[now.uid] = now
        elif before is not None:
            self._known.pop(before.uid, None)
        found = now or before
        if found is not None:
            self._sync_pod(found.uid)

    def ask_now(self) -> None:
        """Asks for the kind now, if the API server did not have it. NodePodProbes are there, and both are installed
        together; a request for a failed probe waits a minute for this node."""
        self._is_asked.set()

    def observe(self, uid: str) -> None:
        """The cache has news of a pod."""
        if pod := self._pods.get(uid):
            pod.wake()

    def resume(self, intents: Iterable[Intent]) -> None:
        """Goes on with the kills that an earlier agent began for requests; the API server may be away."""
        for note in self._parts.notes.load():
            self._notes[note.uid] = note.killed
        for intent in intents:
            self._parts.host.tasks.spawn(self._resume(intent))

    async def run(self) -> NoReturn:
        """Carries requests out until the task is cancelled."""
        await self._served()
        following = asyncio.ensure_future(self._reflector.run())
        try:
            await self._reflector.synced.wait()
            self._forget_notes()
            await following
        finally:
            following.cancel()
        raise AssertionError("the mirror ends only by cancellation")

    # What follows.

    async def _served(self) -> None:
        """Waits until the API server has the kind."""
        clock, pace, logged = self._parts.host.timers, Pace(), ""
        while True:
            try:
                await self._parts.connection.version(CONTAINER_RECREATE_REQUESTS)
            except (NotFound, Forbidden) as error:
                if logged != str(error):
                    logged = str(error)
                    log.info("no requests to recreate containers", why=logged)
                self._is_asked.clear()
                wanted = asyncio.ensure_future(self._is_asked.wait())
                await clock.done_within(int(LOOK_NS * (1 + pace.chance())), wanted)
                wanted.cancel()
            except KubeError as error:
                await clock.sleep(pace.after_failure(clock.now(), error.retry_after_ns))
            else:
                return

    def _changed(self, before: RecreateRequest | None, now: RecreateRequest | None) -> None:
        if before is not None and (now is None or now.uid != before.uid):
            self._gone(before)
        if now is not None and now.pod_uid in self._known:
            self._handle(now)

    def _handle(self, request: RecreateRequest) -> None:
        """A request for a pod of this node. One for another pod stays in the mirror: labels that nobody checked must
        not make work."""
        pod = self._pods.get(request.pod_uid)
        execution = None if pod is None else pod.executions.get(request.uid)
        if execution is not None and pod is not None:
            execution.update(request, self._parts.host.timers.now())
            pod.wake()
        elif not request.is_completed:
            self._add(request)

    def _add(self, request: RecreateRequest) -> None:
        parts, now = self._parts, self._parts.host.timers.now()
        pod = self._pods.get(request.pod_uid)
        is_new = pod is None
        if pod is None:
            pod = PodExecutor(request.pod_uid, parts, self._kills, lambda: self._reflector.connected, self._over)
            pod.terminating = self._terminating.setdefault(request.pod_uid, asyncio.Event())
            self._pods[request.pod_uid] = pod
        pod.executions[request.uid] = Execution.of(request, self._notes.get(request.uid, {}), now)
        pod.api = self._known[request.pod_uid]
        _set(pod.terminating, on=pod.api.terminating)
        log.info("request found", request=request.full_name, pod=request.pod_name, phase=request.phase)
        if is_new:
            parts.host.pleg.request_relist()
            parts.host.tasks.spawn(self._work(pod))
        pod.wake()

    async def _work(self, pod: PodExecutor) -> None:
        await pod.run()
        if self._pods.get(pod.uid) is pod:
            del self._pods[pod.uid]
            self._terminating.pop(pod.uid, None)

    def _gone(self, request: RecreateRequest) -> None:
        """The request has completed and lost its label, or was deleted: the next one of its pod may begin (C-1)."""
        pod = self._pods.get(request.pod_uid)
        execution = None if pod is None else pod.executions.pop(request.uid, None)
        if pod is not None:
            pod.wake()
        if self._notes.pop(request.uid, None) or (execution is not None and execution.killed):
            self._parts.host.tasks.spawn(self._remove(request.uid))

    def _over(self, execution: Execution) -> None:
        result = "succeeded" if execution.progress.has_succeeded else "failed"
        self.counts[result] += 1
        log.info(
            "request completed", request=execution.request.full_name, result=result, why=execution.progress.message
        )

    def _sync_pod(self, uid: str) -> None:
        api = self._known.get(uid)
        if (event := self._terminating.get(uid)) is not None:
            _set(event, on=api is None or api.terminating)
        if pod := self._pods.get(uid):
            pod.api = api
            pod.wake()
        elif api is not None:
            for request in [each for each in self._reflector.items.values() if each.pod_uid == uid]:
                self._handle(request)

    def _connected(self, connected: bool) -> None:
        for pod in self._pods.values():
            pod.wake()

    async def _resume(self, intent: Intent) -> None:
        # The pod's end is learned from the API server; while that is away, a kill that has begun goes on.
        terminating = self._terminating.setdefault(intent.pod_uid, asyncio.Event())
        api = self._known.get(intent.pod_uid)
        idempotent = api is not None and api.is_pre_stop_idempotent
        error = await self._kills.resume(intent, terminating, idempotent=idempotent)
        pod = self._pods.get(intent.pod_uid)
        for execution in [] if pod is None else pod.executions.values():
            if error and execution.killed.get(intent.container) == intent.container_id:
                execution.failures[intent.container] = error
        if pod is None:
            self._terminating.pop(intent.pod_uid, None)
        else:
            pod.wake()

    def _forget_notes(self) -> None:
        """Notes of requests that ended while no agent was there."""
        known = {request.uid for request in self._reflector.items.values()}
        for uid in [uid for uid in self._notes if uid not in known]:
            del self._notes[uid]
            self._parts.host.tasks.spawn(self._remove(uid))

    async def _remove(self, uid: str) -> None:
        try:
            await self._parts.notes.remove(uid)
        except OSError as error:
            log.error("note of a request cannot be removed", uid=uid, error=str(error))


def _set(event: asyncio.Event, *, on: bool) -> None:
    if on:
        event.set()
    else:
        event.clear()


def _decode(found: dict[str, Any]) -> RecreateRequest:
    return read_request(found)
