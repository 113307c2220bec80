"""Stops containers for requests: a few at a time, each with its note on disk."""

import asyncio
from typing import Final

import structlog

from probelet.agent.kill.kill import RETRY_NS
from probelet.agent.recreate.parts import ExecutorParts
from probelet.agent.recreate.target import KnownPod, Target, bare_pod, noted
from probelet.agent.state.records import Intent, RequestNote
from probelet.beside.guard.recreate.execution import Execution
from probelet.beside.guard.recreate.messages import stopping
from probelet.beside.pods.api_pod import ApiPod
from probelet.beside.pods.victim import Victim
from probelet.policy.facts.snapshot import ContainerRecord, State
from probelet.policy.rules.grace import KillReason
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.text.container_id import bare_id
from probelet.spec.text.duration import SECOND

KILLS_MAX: Final = 32
"""Kills for requests at the same time, as OpenKruise's daemon has workers. A hook and a hanging runtime take their
time, and each pod waits for its own only."""

LOOK_NS: Final = 30 * SECOND
"""How long the runtime may take to say what a container's hook is."""

log = structlog.get_logger("probelet.agent")


class RequestKills:
    """The kills for all requests."""

    def __init__(self, parts: ExecutorParts) -> None:
        self._parts = parts
        self._slots = asyncio.Semaphore(KILLS_MAX)

    async def record(self, execution: Execution, container: str, id: str) -> None:
        """Writes that an instance is killed for a request, before the kill begins."""
        execution.begin_kill(container, id)
        try:
            await self._parts.notes.put(
                execution.request.uid, RequestNote(uid=execution.request.uid, killed=execution.killed)
            )
        except OSError as error:
            log.error("note of a request cannot be written", request=execution.request.full_name, error=str(error))

    async def stop(self, execution: Execution, container: str, id: str, api: ApiPod, terminating: asyncio.Event) -> str:
        """Stops one instance; returns why that failed, empty if it has ended or the kubelet ends it."""
        async with self._slots:
            status = await self._status(id)
            if isinstance(status, str):
                return status
            request = execution.request
            if status is None or status.state == api_pb2.CONTAINER_EXITED:
                # It ended by itself, and the cache does not know yet; without its word the same kill would begin anew.
                self._record_end(request.pod_uid, id, status)
                return ""
            grace = request.strategy.termination_grace_period_seconds
            known = KnownPod(api.uid, api.namespace, api.name, api.is_pre_stop_idempotent)
            pod = noted(known, container, status, grace)
            record = ContainerRecord(id, container, State.RUNNING)
            message = stopping(container, request.name)
            victim = Victim(pod.spec.containers[0], "regular", record, KillReason.RECREATE, message)
            _, error = await self._parts.kills.stop(self._target(pod, terminating), victim)
            return error

    async def resume(self, intent: Intent, terminating: asyncio.Event, *, idempotent: bool) -> str:
        """Goes on with a kill that an earlier agent began; returns why that failed. ``idempotent``: its hook may run
        twice."""
        known, grace = KnownPod(intent.pod_uid, intent.namespace, intent.name, idempotent), intent.grace_seconds
        pod = bare_pod(known, Container(name=intent.container), grace)
        if not intent.hook_ended:
            status = await self._status(intent.container_id)
            if status is not None and not isinstance(status, str):
                pod = noted(known, intent.container, status, grace)
        _, error = await self._parts.kills.go_on(self._target(pod, terminating), intent)
        return error

    async def _status(self, id: str) -> api_pb2.ContainerStatus | str | None:
        """Returns the runtime's status of a container, None for one that is gone, or the error."""
        timers, error = self._parts.host.timers, "the runtime does not answer"
        end = timers.now() + LOOK_NS
        while (left := end - timers.now()) > 0:
            asking = asyncio.ensure_future(self._parts.host.client.container_status(bare_id(id)))
            try:
                if not await timers.done_within(left, asking):
                    break
                return asking.result().status
            except errors.NotFound:
                return None
            except errors.CriError as failed:
                error = str(failed)
            finally:
                asking.cancel()
            await timers.sleep(min(RETRY_NS, left))
        return error

    def _record_end(self, uid: str, id: str, status: api_pb2.ContainerStatus | None) -> None:
        known = self._parts.host.cache.container(uid, id)
        if status is None:
            self._parts.host.cache.drop(uid, id)
        elif known is not None:
            self._parts.host.inspection.put(uid, status, known.sandbox_id)
        self._parts.observe(uid)

    def _target(self, pod: Pod, terminating: asyncio.Event) -> Target:
        return Target(pod, terminating, self._parts.observe, self._address)

    def _address(self, uid: str) -> str:
        snapshot = self._parts.host.cache.snapshot(uid)
        on_host = bool(snapshot.sandboxes) and snapshot.sandboxes[0].ip is None
        return self._parts.host.address if on_host else snapshot.pod_ip
