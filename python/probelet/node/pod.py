"""One pod on the node: its machine's actions, carried out in order."""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec
import structlog
from msgspec.structs import replace

from probelet._rust import Update
from probelet.base.printable import last_line
from probelet.host.incidents.pod import IncidentPod
from probelet.host.probe_changes import ProbeChanges
from probelet.node.effects.effects import CANCELED, Effects
from probelet.node.metrics.node_metrics import NodeMetrics
from probelet.node.metrics.pod_start import PodStart
from probelet.node.options import NodeOptions
from probelet.policy.facts.snapshot import Snapshot, State
from probelet.policy.glue.status_layer import encode_facts, read_probe_state
from probelet.policy.glue.sync_requests import SyncRequests
from probelet.policy.machine.pod_machine import PodMachine
from probelet.policy.messages import named
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.actions import (
    Action,
    Arm,
    Cancel,
    Define,
    Forget,
    Perform,
    Publish,
    Recheck,
    Record,
    StopProbing,
)
from probelet.policy.protocol.effects import (
    CreateContainer,
    Effect,
    KillContainer,
    Outcome,
    PullImage,
    RemoveContainer,
    RunHook,
    StartContainer,
)
from probelet.policy.protocol.inputs import (
    Change,
    Due,
    Input,
    Observed,
    Performed,
    Release,
    Restart,
    SyncRequested,
    Terminate,
)
from probelet.policy.rules.grace import KillReason, find_container, termination_grace
from probelet.policy.rules.kind import containers
from probelet.policy.rules.restart import definition
from probelet.policy.status.container_status import ContainerStatus
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen.node_address import pod_address
from probelet.runtime.seen.pleg import RELIST_PERIOD_NS
from probelet.runtime.seen.result_log import ResultLog
from probelet.server.document.status import HeldDocument
from probelet.spec.annotation.probe_changes import changed_probes
from probelet.spec.read.json import encode_pod
from probelet.spec.read.load import Manifest
from probelet.spec.text.duration import SECOND

LONG_ID: Final = re.compile(r"\b[0-9a-f]{64}\b")
SHORT_ID_DIGITS: Final = 13

SECOND_SYNC_NS: Final = RELIST_PERIOD_NS
"""How long after a container's start its pod syncs once more. The kubelet sees a start in its next relist, up to a
second later (``genericPlegRelistPeriod``, 1.36), and the sync that follows probes the readiness of a container that is
not ready. Ours comes at once, before most programs listen; without a second one such a program would be not ready for a
whole period."""

OUTPUT_SHOWN_MAX: Final = 256
"""Characters of a container's last line in our log; the status has all of it."""

log = structlog.get_logger("probelet.node")


class NodeParts(msgspec.Struct, frozen=True):
    """The parts that the pods and the pages of a node share."""

    host: RuntimeHost
    options: NodeOptions
    gate: RestartGate
    effects: Effects
    metrics: NodeMetrics


class NodePod:
    """A pod and its effects in flight. A task exists only while there are any."""

    def __init__(self, manifest: Manifest, parts: NodeParts, on_gone: "Callable[[NodePod], None]") -> None:
        self.manifest = manifest
        self.pod = manifest.pod
        self.uid = manifest.pod.metadata.uid
        self.full_name = manifest.pod.full_name
        self._parts = parts
        self._host = host = parts.host
        grace, images = parts.options.probe_grace, not host.on_host
        self.machine = PodMachine(
            manifest.pod, parts.gate, probe_grace=grace, images=images, kill_gate=host.incidents.kill_gate
        )
        self.removing = False
        """True once the node has asked the pod to end."""
        self.stops_at: dict[str, int] = {}
        """The containers that are being stopped, by ID: when their grace is over, on the engine's clock."""
        self.probe_changes = ProbeChanges(host, self.uid, self.full_name)
        self._on_gone = on_gone
        self._timer: int | None = None
        # The calls of every ticket that is not answered yet.
        self._calls: dict[int, list[asyncio.Task[Outcome]]] = {}
        self._sync_requests = SyncRequests()
        self._delayed: int | None = None
        self._second_sync: int | None = None
        self._published: Publish | None = None
        self.added_ns = host.timers.now()
        """When the pod was first seen, on the engine's clock."""
        self._first_sync = True
        self._start = PodStart(self.added_ns)
        # Instances that had ended in the last snapshot; None before the first.
        self._ended: set[str] | None = None
        self._being_started: set[str] = set()
        self._log = log.bind(pod=self.full_name)
        self._results = ResultLog(self.uid, host.cache, self._log)
        self._incidents = IncidentPod(host.incidents, host.node, parts.options.incidents)
        self._incidents.known(manifest.pod, self.template)

    @property
    def template(self) -> str:
        """``Kind/name`` of the object whose template made the pod; empty for a pod by itself."""
        return _template(self.manifest)

    @property
    def statuses(self) -> Mapping[str, ContainerStatus]:
        """The containers as the last sync published them."""
        return self.machine.statuses

    def held_kills(self) -> dict[str, HeldDocument]:
        """The liveness kills that wait, by container."""
        return self._host.incidents.held(self.uid)

    def observe(self) -> None:
        """The cache has news of this pod."""
        self.handle(Observed(self._host.cache.snapshot(self.uid)))

    def request_sync(self) -> None:
        """A result changed: sync now, or as soon as the pod may."""
        timers = self._host.timers
        now = timers.now()
        moment = self._sync_requests.ask(now)
        if moment == now:
            self.handle(SyncRequested())
        elif moment is not None:
            self._delayed = timers.arm(moment, self._delayed_sync)

    def _delayed_sync(self) -> None:
        self._delayed = None
        self._sync_requests.begin(self._host.timers.now())
        self.handle(SyncRequested())

    def _sync_again_after_start(self, container: str) -> None:
        if find_container(self.pod, container).readiness_probe is None:
            return
        timers = self._host.timers
        if self._second_sync is not None:
            timers.cancel(self._second_sync)
        self._second_sync = timers.arm(timers.now() + SECOND_SYNC_NS, self._sync_again)

    def _sync_again(self) -> None:
        self._second_sync = None
        self.handle(SyncRequested())

    def log_result(self, update: Update) -> None:
        """Log a result that changed, unless it is the result that every container begins with."""
        self._results.log(update)
        record = self._host.cache.container(self.uid, update.container_id)
        self._host.drift.result(self.pod, update.probe_type, update.result, record, self.template)

    def _log_exits(self, snapshot: Snapshot) -> None:
        """Log each container that ended, with the last line of its output, which often tells a person why.

        The log leaves out a container that had ended before this pod's first snapshot, and a container that never
        started: the failed start has an error line of its own.
        """
        ended = {
            record.id: record
            for record in snapshot.containers
            # The event of its end may come before the answer to its start; a person wants to read of the start first.
            if record.state in (State.ENDED, State.EXITED) and record.id not in self._being_started
        }
        before = ended.keys() if self._ended is None else self._ended
        # A container of which the runtime has not said how it ended is logged when it has.
        exited = {id: record for id, record in ended.items() if record.state is State.EXITED}
        for record in exited.values():
            if record.id not in before and record.started_at_ms:
                self._incidents.exited(self.pod, record)
                said = last_line(record.message)[:OUTPUT_SHOWN_MAX]
                output = {"output": said} if said else {}
                say = self._log.warning if record.exit_code and not self.removing else self._log.info
                say("container exited", container=record.name, exit_code=record.exit_code, **output)
        self._ended = exited.keys() | (before & ended.keys())

    def container_of(self, container_id: str) -> str:
        """The name of the container of an instance; empty for one that is not known."""
        known = self._host.cache.container(self.uid, container_id)
        return "" if known is None else known.name

    def release(self, names: Collection[str]) -> list[str]:
        """Start the containers of ``names`` that wait for their restart now; returns their names."""
        found = sorted(self.machine.waiting_restarts() & set(names))
        if found:
            self.handle(Release(tuple(found)))
        return found

    def reset(self, names: Collection[str]) -> list[str]:
        """Forget the restart delay of these containers, and start the waiting ones.

        Returns the names of the containers that had a delay.
        """
        gate = self._parts.gate
        found = [name for name in sorted(names) if gate.reset(self.pod, find_container(self.pod, name))]
        if found:
            self.handle(SyncRequested())
        return found

    def restart(self, container_id: str, message: str) -> None:
        """Replace a container that nothing is wrong with; ``message`` is its Killing event, without the suffix."""
        self.handle(Restart(container_id, message))

    def change(self, manifest: Manifest) -> None:
        """The manifest has changed: containers with another image restart, everything else waits for a later start.

        Kubelet config/config.go:checkAndUpdatePod and container/helpers.go:HashContainer, 1.36.
        """
        before = {container.name: definition(container) for _, container in containers(self.manifest.pod)}
        now = {container.name: definition(container) for _, container in containers(manifest.pod)}
        self.manifest = manifest
        if begun := sorted(name for name in now if now[name] != before.get(name)):
            self._log.info("pod changed", path=str(manifest.path), containers=begun)
        elif manifest.is_live and (changed := changed_probes(self.pod, manifest.pod)):
            self._log.info("probes changed", path=str(manifest.path), probes=list(changed.values()))
        else:
            said = "pod changed; under its own UID only another image restarts a container, so nothing restarts"
            self._log.warning(said, path=str(manifest.path))
        self._incidents.known(manifest.pod, _template(manifest))
        self.handle(Change(manifest.pod, manifest.is_live))

    def end(self, terminate: Terminate) -> int:
        """End the pod; returns the seconds it may take."""
        self.removing = True
        self._incidents.over(self.uid)
        self.handle(terminate)
        return 0 if terminate.at_once else termination_grace(self.pod, terminate.grace_seconds).seconds

    def handle(self, given: Input) -> None:
        """Give the machine one input and carry out its actions."""
        if isinstance(given, Observed | Performed):
            self._log_exits(given.snapshot)
        probes = read_probe_state(self._host.engine, self.pod, self.machine.latest(given))
        for action in self.machine.handle(self._host.timers.now(), given, probes):
            self._do(action)
        for took in self.machine.synced_ns:
            self._parts.metrics.pods.synced(took, first=self._first_sync)
            self._first_sync = False
        self.machine.synced_ns.clear()

    def _do(self, action: Action) -> None:
        host, parts = self._host, self._parts
        match action:
            case Record():
                host.recorder.record(
                    self.uid, self.full_name, action.type, action.reason, action.message, action.field_path
                )
            case Publish():
                self._publish(action)
            case Perform():
                for effect in action.effects:
                    self._announce(effect)
                calls = [asyncio.ensure_future(parts.effects.perform(self.pod, e)) for e in action.effects]
                self._calls[action.ticket] = calls
                host.tasks.spawn(self._perform(action, calls))
            case Cancel(ticket):
                for call in self._calls.get(ticket, ()):
                    call.cancel()
            case Define():
                self._define(action)
            case Arm(deadline):
                self._arm(deadline)
            case Recheck(container):
                host.engine.recheck(self.uid, container)
            case StopProbing():
                self._incidents.over(self.uid)
                host.engine.remove_pod(self.uid)
            case Forget():
                self._forget()

    def _define(self, define: Define) -> None:
        before, self.pod = self.pod, define.pod
        self._host.engine.define_pod(encode_pod(self.pod))
        if define.live:
            self.probe_changes.take(before, self.pod)

    def _publish(self, publish: Publish) -> None:
        engine = self._host.engine
        publish = replace(publish, pod_ip=pod_address(self.pod, publish.pod_ip, self._host.address))
        if publish != self._published:
            self._published = publish
            self._start.observe(publish, self._host.timers.now(), self._parts.metrics.pods)
            self._parts.metrics.crash_loop.status_written()
        self._host.networks.follow(self.pod)
        set_status = engine.sync_terminating_pod if publish.terminating else engine.sync_pod
        set_status(self.uid, encode_facts(publish))
        if self._parts.options.on_publish is not None:
            self._parts.options.on_publish(self.uid, publish)

    async def _perform(self, perform: Perform, calls: list[asyncio.Task[Outcome]]) -> None:
        ended = await asyncio.gather(*calls, return_exceptions=True)
        outcomes = tuple([await self._outcome(e, r) for e, r in zip(perform.effects, ended, strict=True)])
        if self._calls.pop(perform.ticket, None) is None:
            # The pod was forgotten meanwhile: a hook outlived its container.
            return
        for effect, outcome in zip(perform.effects, outcomes, strict=True):
            if isinstance(effect, StartContainer):
                self._being_started.discard(effect.container_id)
            self._report(effect, outcome)
        self.handle(Performed(perform.ticket, outcomes, self._host.cache.snapshot(self.uid)))

    async def _outcome(self, effect: Effect, result: Outcome | BaseException) -> Outcome:
        if isinstance(result, Outcome):
            return result
        if isinstance(result, asyncio.CancelledError):
            # The runtime may have carried out the call all the same: only its next list tells.
            await self._parts.effects.refresh(self.uid, effect, CANCELED)
            return CANCELED
        raise result

    def _arm(self, deadline: int | None) -> None:
        if self._timer is not None:
            self._host.timers.cancel(self._timer)
            self._timer = None
        if deadline is not None:
            self._timer = self._host.timers.arm(deadline, self._due)

    def _due(self) -> None:
        self._timer = None
        self.handle(Due())

    def _forget(self) -> None:
        for timer in (self._delayed, self._second_sync):
            if timer is not None:
                self._host.timers.cancel(timer)
        for calls in self._calls.values():
            for call in calls:
                call.cancel()
        self._calls.clear()
        self._incidents.over(self.uid)
        self._host.engine.forget_pod(self.uid)
        self._host.networks.forget(self.uid)
        self._parts.effects.forget(self.pod)
        self._host.cache.forget(self.uid)
        self._parts.gate.forget(self.pod, self._host.timers.now())
        self._on_gone(self)

    # The log lines of this pod.

    def _announce(self, effect: Effect) -> None:
        if isinstance(effect, KillContainer):
            self.stops_at[effect.container_id] = self._host.timers.now() + effect.grace_seconds * SECOND
            by_probe = effect.reason in (KillReason.LIVENESS, KillReason.STARTUP)
            self._incidents.killing(self.uid, effect.name, effect.container_id, by_probe=by_probe)
            self._log.info(
                "killing container",
                container=effect.name,
                reason=effect.reason.label,
                grace_seconds=effect.grace_seconds,
                grace_source=effect.grace_source,
            )
        elif isinstance(effect, StartContainer):
            self._being_started.add(effect.container_id)
        elif isinstance(effect, RunHook):
            self._log.info("running hook", container=effect.container.name, hook=effect.hook)

    def _report(self, effect: Effect, outcome: Outcome) -> None:
        if isinstance(effect, KillContainer):
            self.stops_at.pop(effect.container_id, None)
        if outcome.error:
            if isinstance(effect, RunHook):
                name = effect.container.name
                self._log.warning("hook failed", container=name, hook=effect.hook, error=outcome.error)
            elif outcome is not CANCELED:
                subject, error = _subject(effect), _readable(effect, outcome.error)
                self._log.warning("runtime call failed", call=type(effect).__name__, **subject, error=error)
            return
        if isinstance(effect, KillContainer):
            self._parts.metrics.counters.killed(effect)
        elif isinstance(effect, PullImage):
            self._start.pulled(outcome.pull.took_ns)
        elif isinstance(effect, StartContainer):
            status = self._host.cache.container(self.uid, effect.container_id)
            count = status.restart_count if status is not None else 0
            self._parts.metrics.counters.started(again=count > 0)
            if effect.cause:
                self._parts.metrics.crash_loop.restarted(effect.cause, first=effect.free)
            self._log.info("container started", container=effect.name, restart_count=count)
            self._sync_again_after_start(effect.name)


def _template(manifest: Manifest) -> str:
    """``Kind/name`` of the object whose template made the pod; empty for a pod by itself."""
    found = manifest.object
    return "" if found is None or found.kind in ("", "Pod") else f"{found.kind}/{found.name}"


def _subject(effect: Effect) -> dict[str, str]:
    """The container that an effect is about, if it is about one."""
    match effect:
        case CreateContainer(container=container):
            return {"container": container.name}
        case StartContainer() | KillContainer() | RemoveContainer():
            return {"container": effect.name}
    return {}


def _readable(effect: Effect, error: str) -> str:
    """The runtime's words with the container's name for its id, and other ids as short as ``crictl`` shows them."""
    if isinstance(effect, StartContainer | KillContainer | RemoveContainer):
        error = named(error, effect.container_id, effect.name)
    return LONG_ID.sub(lambda found: found[0][:SHORT_ID_DIGITS], error)
