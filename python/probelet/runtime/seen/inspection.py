"""Asks the runtime about single containers and sandboxes, and puts the answers into the cache."""

from typing import Protocol

from msgspec.structs import replace

from probelet.host.timers import Timers
from probelet.policy.facts.snapshot import ContainerRecord, State
from probelet.runtime.cri import errors
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen.cache import PodCache
from probelet.runtime.seen.facts import container_record, sandbox_record
from probelet.spec.text.container_id import bare_id


class TerminationMessages(Protocol):
    """Finds the message with which a container ended."""

    def completed(self, uid: str, status: api_pb2.ContainerStatus, record: ContainerRecord, /) -> ContainerRecord: ...


class Inspection:
    """``runtime`` is the type in ``type://id``, empty until the runtime is found. ``messages`` finds with which words
    containers ended; None if the runtime itself knows them."""

    def __init__(self, client: RuntimeClient, cache: PodCache, timers: Timers) -> None:
        self.runtime = ""
        self.messages: TerminationMessages | None = None
        self._client = client
        self._cache = cache
        self._timers = timers

    def full_id(self, container_id: str) -> str:
        """``type://id``."""
        return f"{self.runtime}://{container_id}"

    async def sandbox(self, uid: str, sandbox_id: str) -> bool:
        """Asks the runtime about one sandbox; True if the cache changed. Raises CriError."""
        try:
            answer = await self._client.pod_sandbox_status(sandbox_id)
        except errors.NotFound:
            return self._cache.drop(uid, sandbox_id)
        return self._cache.put_sandbox(uid, sandbox_record(answer.status), self._timers.now())

    async def container(self, uid: str, container_id: str, sandbox_id: str) -> bool:
        """Asks the runtime about one container; True if the cache changed. Raises CriError."""
        try:
            answer = await self._client.container_status(bare_id(container_id))
        except errors.NotFound:
            return self._cache.drop(uid, container_id)
        return self.put(uid, answer.status, sandbox_id)

    def put(self, uid: str, status: api_pb2.ContainerStatus, sandbox_id: str) -> bool:
        """Puts the status of one container into the cache; True if that changed it."""
        now, wall = self._timers.now(), self._timers.wall_ns()
        record = container_record(status, runtime=self.runtime, sandbox_id=sandbox_id, now_ns=now, wall_ns=wall)
        if self.messages is not None and record.state is State.EXITED:
            known = self._cache.container(uid, record.id)
            if known is not None and known.state is State.EXITED:
                record = replace(record, message=known.message)
            else:
                record = self.messages.completed(uid, status, record)
        return self._cache.put_container(uid, record, now)
