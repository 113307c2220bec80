"""All kills under way: at most one for each container instance, begun by a failure or a request, or resumed."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, Final

import structlog

from probelet.agent.kill.kill import End, Kill, KillParts
from probelet.agent.kill.pod import KilledPod
from probelet.agent.state.records import Intent
from probelet.beside.pods.victim import Victim
from probelet.policy.rules.grace import MINIMUM_GRACE_SECONDS
from probelet.policy.rules.kind import containers
from probelet.spec.text.container_id import bare_id
from probelet.spec.text.duration import MILLISECOND, SECOND

SPARE_SECONDS: Final = 10
"""How long after the grace a kill for a request is over in any case, so that a runtime that hangs ends the request."""

log = structlog.get_logger("probelet.agent")


class Kills:
    """``counts`` has the kills that are over, by reason and by how they ended; ``resumed`` those of earlier agents."""

    def __init__(self, parts: KillParts) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.resumed = 0
        self._parts = parts
        self._host = parts.host
        self._under_way: dict[str, Kill] = {}

    def __len__(self) -> int:
        """How many are under way."""
        return len(self._under_way)

    def __contains__(self, container_id: str) -> bool:
        """Whether this instance is being killed."""
        return container_id in self._under_way

    def begin(self, pod: KilledPod, victim: Victim) -> None:
        """Kills an instance, unless that is under way. It is asked again with every sync until the instance is gone."""
        if victim.record.id not in self._under_way and not pod.terminating.is_set():
            kill = self._under_way[victim.record.id] = Kill.of(pod, victim, self._parts)
            self._host.tasks.spawn(self._run(kill, victim))

    async def stop(self, pod: KilledPod, victim: Victim) -> tuple[End, str]:
        """Kills an instance for a request, within its grace and ``SPARE_SECONDS``; returns how that ended, and for a
        failure the runtime's error. A kill of the same instance that is under way ends it too."""
        if victim.record.id in self._under_way:
            return "ended", ""
        kill = Kill.of(pod, victim, self._parts)
        return await self._in_time(kill, kill.begin(victim), kill.intent.grace_seconds)

    async def go_on(self, pod: KilledPod, intent: Intent) -> tuple[End, str]:
        """Continues a kill that an earlier agent began for a request, otherwise like ``stop``."""
        seconds = intent.seconds_left(self._host.timers.wall_ns() // MILLISECOND)
        self.resumed += 1
        kill = Kill(pod, intent, self._parts, seconds)
        return await self._in_time(kill, kill.resume(), seconds)

    async def _in_time(self, kill: Kill, work: Coroutine[Any, Any, End], seconds: int) -> tuple[End, str]:
        id, limit = kill.intent.container_id, max(seconds, MINIMUM_GRACE_SECONDS) + SPARE_SECONDS
        self._under_way[id] = kill
        running = asyncio.ensure_future(work)
        try:
            if await self._host.timers.done_within(limit * SECOND, running):
                end = running.result()
            else:
                running.cancel()
                await asyncio.wait((running,))
                end = await kill.give_up()
        finally:
            running.cancel()
            del self._under_way[id]
        self.counts[kill.intent.reason.label, end] += 1
        return end, kill.error or f"the container has not ended within {limit} s" if end == "failed" else ""

    def resume(self, intents: Iterable[Intent], pods: Mapping[str, KilledPod]) -> None:
        """Goes on with the kills of an earlier agent, and drops those of pods that are gone."""
        wall_ms = self._host.timers.wall_ns() // MILLISECOND
        for intent in intents:
            pod = pods.get(intent.pod_uid)
            names = [] if pod is None else [container.name for _, container in containers(pod.pod)]
            if pod is None or intent.container not in names:
                self._host.tasks.spawn(self._drop(intent))
                continue
            self.resumed += 1
            kill = Kill(pod, intent, self._parts, intent.seconds_left(wall_ms))
            self._under_way[intent.container_id] = kill
            self._host.tasks.spawn(self._run(kill, None))

    async def _drop(self, intent: Intent) -> None:
        try:
            await self._parts.intents.remove(bare_id(intent.container_id))
        except OSError as error:
            log.error("intent of a kill cannot be removed", container_id=intent.container_id, error=str(error))

    async def _run(self, kill: Kill, victim: Victim | None) -> None:
        id = kill.intent.container_id
        try:
            end = await (kill.resume() if victim is None else kill.begin(victim))
            self.counts[kill.intent.reason.label, end] += 1
        finally:
            del self._under_way[id]
