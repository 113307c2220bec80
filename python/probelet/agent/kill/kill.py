"""One kill of one container instance: kubelet kuberuntime_container.go:killContainer, 1.36, with its steps on disk.

| step | on disk before it | an agent that died in it |
|---|---|---|
| Killing event | the intent | writes no second event |
| preStop hook, once the runtime answers | ``hook_begun`` | runs it again if it is idempotent, else writes an event |
| StopContainer | ``hook_ended`` | calls it again with the rest of the grace |
| the container has ended | | drops the intent |

A kill ends without a stop when its pod begins to terminate, because then the kubelet kills the same container, with a
hook of its own, and when the runtime no longer has this instance running.
"""

import asyncio
from typing import Final, Literal

import msgspec
import structlog
from msgspec.structs import replace

from probelet.agent.kill.hook_run import run_pre_stop
from probelet.agent.kill.pod import KilledPod
from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.records import Intent
from probelet.base.exposition.paced_log import PacedLog
from probelet.beside.pods.victim import Victim
from probelet.beside.takeover.names import PRE_STOP_IDEMPOTENT
from probelet.policy import messages
from probelet.policy.facts.snapshot import State
from probelet.policy.rules.grace import MINIMUM_GRACE_SECONDS, select_grace
from probelet.policy.rules.kind import Kind, containers, field_path
from probelet.policy.strands.hook import Hook
from probelet.runtime.cri import errors
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen.hooks import Hooks
from probelet.spec.model.container import Container
from probelet.spec.text.container_id import bare_id
from probelet.spec.text.duration import MILLISECOND, SECOND

RETRY_NS: Final = 10 * SECOND
"""How long after a call that failed, or that stopped nothing, the next one follows, as a kubelet's sync does
(pod_workers.go ``backOffPeriod``, 1.36)."""

HOOK_CUT_OFF: Final = "PreStopHook of container {} did not end: the agent that ran it ended"
"""The event about a hook that ended with its agent and is not run again."""

End = Literal["ended", "terminating", "failed"]
"""How a kill is over: the container has ended, its pod terminates and the kubelet kills it, or its time is over."""

log = structlog.get_logger("probelet.agent")


class KillParts(msgspec.Struct, frozen=True):
    """The parts that all kills share."""

    host: RuntimeHost
    hooks: Hooks
    intents: JsonFiles[Intent]
    probe_grace: bool
    """Whether the gate ProbeTerminationGracePeriod is on."""


class Kill:
    """Stops one container instance. ``begin`` or ``resume`` is awaited once; an agent that dies meanwhile resumes it by
    its intent.

    ``seconds``: the grace from now on.
    """

    def __init__(self, pod: KilledPod, intent: Intent, parts: KillParts, seconds: int) -> None:
        self.intent = intent
        """The intent as the disk has it."""
        self.error = ""
        """The runtime's error of the last call that failed."""
        self._pod = pod
        self._parts = parts
        self._host = parts.host
        self._end_ns = parts.host.timers.now() + seconds * SECOND
        self._log = log.bind(pod=pod.full_name, container=intent.container)
        self._failed = PacedLog(self._log.error, "container cannot be stopped", parts.host.timers.seconds)

    @classmethod
    def of(cls, pod: KilledPod, victim: Victim, parts: KillParts) -> "Kill":
        """A new kill: its grace begins now."""
        grace = select_grace(pod.pod, victim.container, victim.reason, probe_grace=parts.probe_grace)
        meta = pod.pod.metadata
        intent = Intent(
            pod_uid=pod.uid,
            namespace=meta.namespace,
            name=meta.name,
            container=victim.container.name,
            container_id=victim.record.id,
            reason=victim.reason,
            grace_seconds=grace.seconds,
            grace_source=grace.source,
            deadline_ms=(parts.host.timers.wall_ns() + grace.seconds * SECOND) // MILLISECOND,
        )
        return cls(pod, intent, parts, grace.seconds)

    async def begin(self, victim: Victim) -> End:
        """Kills from the first step on."""
        intent, pod = self.intent, self._pod
        source = intent.grace_source
        self._log.info(
            "killing container", reason=intent.reason.label, grace_seconds=intent.grace_seconds, grace_source=source
        )
        await self._keep(intent)
        path = field_path(victim.kind, intent.container)
        self._host.recorder.record(pod.uid, pod.full_name, "Normal", messages.KILLING, victim.message, path)
        await self._hook(victim.container)
        return await self._ended(await self._stop())

    async def resume(self) -> End:
        """Goes on with a kill that an earlier agent began: with the rest of its grace, and with a hook that has not
        begun, or may run twice."""
        self._log.info("going on with a kill", reason=self.intent.reason.label, grace_seconds=self._seconds_left())
        for kind, container in containers(self._pod.pod):
            if container.name == self.intent.container and not self.intent.hook_ended:
                await self._hook_of_another(kind, container)
        return await self._ended(await self._stop())

    async def _hook_of_another(self, kind: Kind, container: Container) -> None:
        """Runs the hook that an earlier agent had not ended, or says that it did not end."""
        pod = self._pod
        if pod.terminating.is_set():
            # The kubelet's kill has the hook too.
            return
        is_idempotent = pod.pod.metadata.annotations.get(PRE_STOP_IDEMPOTENT) == "true"
        has_time = self._end_ns > self._host.timers.now()
        if has_time and (is_idempotent or not self.intent.hook_begun):
            await self._hook(container)
        if not self.intent.hook_begun or self.intent.hook_ended or pod.terminating.is_set():
            return
        message = HOOK_CUT_OFF.format(container.name)
        self._log.warning("hook did not end", hook="preStop")
        path = field_path(kind, container.name)
        self._host.recorder.record(pod.uid, pod.full_name, "Warning", messages.FAILED_PRE_STOP_HOOK, message, path)

    async def _hook(self, container: Container) -> None:
        """Runs the preStop hook within the grace. A hook that takes longer goes on by itself, as in the kubelet."""
        lifecycle, host = container.lifecycle, self._host
        if lifecycle is None or lifecycle.pre_stop is None or self.intent.grace_seconds <= 0:
            return
        if lifecycle.pre_stop.exec is not None and not await self._is_reached():
            return
        if self._pod.terminating.is_set():
            return
        await self._keep(replace(self.intent, hook_begun=True))
        self._log.info("running hook", hook="preStop")
        hook = Hook(container, self.intent.container_id, "preStop", lifecycle.pre_stop, self._seconds_left())
        running = host.tasks.spawn(run_pre_stop(self._pod, hook, self._parts.hooks, host))
        terminating = asyncio.ensure_future(self._pod.terminating.wait())
        over = asyncio.ensure_future(host.timers.sleep(self._end_ns - host.timers.now()))
        try:
            await asyncio.wait((running, terminating, over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            terminating.cancel()
            over.cancel()
        await self._keep(replace(self.intent, hook_ended=True))

    async def _is_reached(self) -> bool:
        """Waits until the runtime can run a command in this instance; False if nothing is left to run it in. After a
        wait the grace begins anew, as with each attempt of a kubelet: the program has not been asked to end yet."""
        has_waited = False
        while (state := await self._look()) is None and not self._pod.terminating.is_set():
            has_waited = True
            await self._host.timers.sleep(RETRY_NS)
        if has_waited:
            timers, grace_ns = self._host.timers, self.intent.grace_seconds * SECOND
            self._end_ns = timers.now() + grace_ns
            self.intent = replace(self.intent, deadline_ms=(timers.wall_ns() + grace_ns) // MILLISECOND)
        return state is State.RUNNING

    async def _stop(self) -> End:
        """Stops the container once it is certain that this instance runs, again and again until it has ended."""
        intent, host = self.intent, self._host
        while True:
            state = await self._look()
            if self._pod.terminating.is_set():
                return "terminating"
            if state is State.RUNNING:
                try:
                    await host.client.stop_container(bare_id(intent.container_id), self._seconds_left())
                except errors.CriError as error:
                    self._note(error)
                state = await self._look()
            if state in (State.ENDED, State.EXITED):
                return "ended"
            await host.timers.sleep(RETRY_NS)

    async def _look(self) -> State | None:
        """The state of this instance by the runtime's own answer; EXITED for one that is gone, None without an answer.
        The cache has it too, since a step forward is believed from any source."""
        intent, host = self.intent, self._host
        known = host.cache.container(intent.pod_uid, intent.container_id)
        try:
            changed = await host.inspection.container(
                intent.pod_uid, intent.container_id, "" if known is None else known.sandbox_id
            )
        except errors.CriError as error:
            self._note(error)
            return None
        if changed:
            self._pod.observe()
        found = host.cache.container(intent.pod_uid, intent.container_id)
        return State.EXITED if found is None else found.state

    def _note(self, error: errors.CriError) -> None:
        self.error = str(error)
        self._failed(error=self.error)

    async def give_up(self) -> End:
        """Ends a kill whose time is over; ``begin`` or ``resume`` has been cancelled."""
        self._log.error("container was not stopped in time", error=self.error)
        return await self._ended("failed")

    def _seconds_left(self) -> int:
        left = -((self._host.timers.now() - self._end_ns) // SECOND)
        return max(left, MINIMUM_GRACE_SECONDS)

    async def _keep(self, intent: Intent) -> None:
        """Writes the intent. A kill goes on without it where the disk is full: a container that hangs is worse than a
        step that an agent repeats if it dies just now."""
        self.intent = intent
        try:
            await self._parts.intents.put(bare_id(intent.container_id), intent)
        except OSError as error:
            self._log.error("intent of a kill cannot be written", error=str(error))

    async def _ended(self, end: End) -> End:
        if end == "terminating":
            self._log.info("kill left to the kubelet: the pod terminates")
        try:
            await self._parts.intents.remove(bare_id(self.intent.container_id))
        except OSError as error:
            self._log.error("intent of a kill cannot be removed", error=str(error))
        return end
