"""Attempts that the helper carries out; each one that it cannot goes back to the runtime."""

import asyncio
import contextlib
import itertools
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import structlog

from probelet._rust import ExecRun
from probelet.cri.client import RuntimeClient
from probelet.cri.errors import CriError
from probelet.cri.exec import OUTPUT_BYTES_MAX, ExecOutcome, timed_out
from probelet.execs.direct.container import container_info, described, specification
from probelet.execs.direct.counts import DirectCounts
from probelet.execs.direct.fallback import FallbackError, Reason
from probelet.execs.direct.helper_process import Helper
from probelet.execs.direct.message import REQUEST_BYTES_MAX, Answer, Ended, Refused, Stuck, TimedOut, run
from probelet.execs.direct.specification import SandboxInfo
from probelet.execs.direct.surroundings import surroundings

CONTAINERS_MAX: Final = 4096
"""Containers whose description is kept; the one that was used least recently goes first."""

START_SECONDS: Final = 5.0
"""How long the start of the node waits for the helper."""

_PASSING: Final = frozenset({Reason.BUSY, Reason.PAUSED, Reason.PROGRAM, Reason.SETUP})
"""Refusals that say nothing of the container's description: it is used again."""

log = structlog.get_logger("probelet.execs.direct")


@dataclass(frozen=True, slots=True)
class _Lost:
    """The helper ended in mid attempt."""

    why: str


class DirectExecs:
    """Carries out attempts through one helper. Create it on the event loop that uses it; ``close`` ends it."""

    def __init__(self, client: RuntimeClient, program: Path) -> None:
        self.counts = DirectCounts()
        self._client = client
        self._helper = Helper(program, self._take, self._lose)
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer | _Lost]] = {}
        # What the helper needs of a container, or why its attempts go over the runtime, by container ID.
        self._containers: OrderedDict[str, bytes | FallbackError] = OrderedDict()
        self._said: set[Reason] = set()

    async def start(self) -> None:
        """Starts the helper and waits until it is ready or has said why it cannot be; a second is enough for either."""
        self._helper.start()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._helper.heard.wait(), START_SECONDS)
        self.counts.starts = self._helper.starts
        if self._helper.hello is None:
            log.error("exec probes go over the runtime: there is no helper", why=self._helper.why)
        else:
            log.info("exec probes enter containers directly")

    async def close(self) -> None:
        """Ends the helper with every command in flight."""
        await self._helper.close()

    async def attempt(self, run: ExecRun, container_id: str) -> ExecOutcome | None:
        """Carries out an attempt; None if the runtime has to, because nothing was started. ``container_id`` is the
        runtime's own."""
        try:
            outcome = await self._attempt(run, container_id)
        except FallbackError as error:
            self._fall_back(container_id, error)
            return None
        finally:
            self.counts.starts = self._helper.starts
        self.counts.attempts += 1
        return outcome

    async def _attempt(self, run: ExecRun, container_id: str) -> ExecOutcome:
        described = await self._described(container_id)
        found = await self._carried_out(run, described)
        match found:
            case Ended(_, code, stdout, stderr):
                return ExecOutcome("exit", code, (stdout + stderr)[:OUTPUT_BYTES_MAX])
            case TimedOut():
                return timed_out(run.argv, run.timeout_seconds)
            case Stuck():
                return ExecOutcome("error", -1, b"the program could not be started before its timeout")
            case Refused(_, reason, detail):
                if reason not in _PASSING:
                    self._containers.pop(container_id, None)
                raise FallbackError(reason, detail)
            case _Lost(why):
                return ExecOutcome("error", -1, f"the helper of exec probes was lost: {why}".encode())
        raise AssertionError(found)

    async def _carried_out(self, attempt: ExecRun, container: bytes) -> Answer | _Lost:
        number = next(self._ids)
        message = run(number, attempt.timeout_seconds, container, attempt.argv)
        future: asyncio.Future[Answer | _Lost] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            if len(message) > REQUEST_BYTES_MAX:
                raise FallbackError(Reason.SIZE, f"a request of {len(message)} bytes is above {REQUEST_BYTES_MAX}")
            if not self._helper.send(message):
                raise FallbackError(Reason.BUSY, "the helper's socket is full")
            self._helper.watch(True)
            return await future
        finally:
            del self._waiting[number]
            if not self._waiting:
                self._helper.watch(False)

    async def _described(self, container_id: str) -> bytes:
        """What the helper needs of a container. A container's specification and its first process never change."""
        hello = self._helper.hello
        if hello is None:
            raise FallbackError(Reason.HELPER, self._helper.why or "it is starting")
        found = self._containers.get(container_id)
        if found is None:
            try:
                found = await self._read(container_id)
            except FallbackError as error:
                found = error
            if not isinstance(found, FallbackError) or found.reason is not Reason.IDENTITY:
                self._containers[container_id] = found
                if len(self._containers) > CONTAINERS_MAX:
                    self._containers.popitem(last=False)
        else:
            self._containers.move_to_end(container_id)
        if isinstance(found, FallbackError):
            raise found
        return found

    async def _read(self, container_id: str) -> bytes:
        hello = self._helper.hello
        if hello is None:
            raise FallbackError(Reason.IDENTITY, self._helper.why)
        try:
            answer = await self._client.container_status(container_id, verbose=True)
            info = container_info(answer.info.get("info", ""))
            spec = specification(info)
            sandbox = await self._client.pod_sandbox_status(info.sandbox_id, verbose=True)
            sandbox_pid = msgspec.json.decode(sandbox.info.get("info", ""), type=SandboxInfo).pid
        except CriError as error:
            raise FallbackError(Reason.IDENTITY, str(error)) from None
        except msgspec.DecodeError as error:
            raise FallbackError(Reason.RUNTIME, f"PodSandboxStatus says nothing usable: {error}") from None
        around = surroundings(info.pid, sandbox_pid, info.sandbox_id)
        return described(container_id, info, spec, around, hello.bounds)

    def _take(self, answer: Answer) -> None:
        match answer:
            case Ended(id=number) | TimedOut(id=number) | Stuck(id=number) | Refused(id=number):
                future = self._waiting.get(number)
                if future is not None and not future.done():
                    future.set_result(answer)

    def _lose(self, why: str) -> None:
        # The next helper may be bound otherwise.
        self._containers.clear()
        for future in self._waiting.values():
            if not future.done():
                future.set_result(_Lost(why))

    def _fall_back(self, container_id: str, error: FallbackError) -> None:
        self.counts.fallbacks[error.reason] += 1
        if error.reason not in self._said:
            self._said.add(error.reason)
            log.warning(
                "exec probes go over the runtime; said once for each reason",
                reason=str(error.reason),
                detail=error.detail,
                container_id=container_id,
            )
