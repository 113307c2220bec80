"""The service of an agent: puts its parts together on one event loop."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import structlog

from probelet._rust import Engine, Update
from probelet.agent.enhanced.dependencies import EnhancedDependencies
from probelet.agent.enhanced.enhanced import Enhanced
from probelet.agent.kill.kill import KillParts
from probelet.agent.kill.kills import Kills
from probelet.agent.pod.agent_pod import AgentParts
from probelet.agent.pod.agent_pods import AgentPods
from probelet.agent.pod.pauses import Pauses
from probelet.agent.recreate.executor import Executor
from probelet.agent.recreate.parts import ExecutorParts
from probelet.agent.report.conditions import Conditions
from probelet.agent.report.events import COMPONENT, sink_of
from probelet.agent.show.commands import AgentCommands
from probelet.agent.show.metrics import Numbers
from probelet.agent.show.view import AgentView
from probelet.agent.source.pod_source import PodSource, Watched
from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.records import (
    INTENTS,
    PAUSES,
    PODS,
    REQUESTS,
    FirstSeen,
    Intent,
    PausedPod,
    RequestNote,
)
from probelet.base.exposition.wording import EventWording
from probelet.beside.pods.api_pod import ApiPod
from probelet.beside.pods.facts import Known
from probelet.beside.takeover.lease import lease_name
from probelet.host.incidents.events import IncidentEvents
from probelet.host.incidents.node_events import node_record
from probelet.host.incidents.webhook import tell_webhook
from probelet.host.probed_pods import ProbedPods
from probelet.kube import kinds
from probelet.kube.connection import Connection
from probelet.kube.events.writer import EventWriter
from probelet.kube.lease.heartbeat import Heartbeat
from probelet.kube.reflector import Reflector
from probelet.policy.incidents.subjects import CommandReader
from probelet.policy.node.kill_gate import NO_HOLD, HoldOptions
from probelet.policy.rules.grace import KillReason
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen import labels
from probelet.runtime.seen.hooks import Hooks
from probelet.spec.model.probe_options import OptionDefaults
from probelet.spec.text.duration import SECOND

API_PATIENCE_NS: Final = 5 * SECOND
"""How long a start waits for the first list of the API server before it begins with the pods of an earlier agent. A
list takes a second or two after a rollout of all agents; a node whose API server is away must not wait for long."""

CLOSE_PATIENCE_NS: Final = 2 * SECOND
"""How long a start waits until the gates of changed instances are closed. Writes that take longer go on meanwhile."""

LIST_PAGE: Final = 20
"""Pods in a page of a list: what a page needs while it is read stays with the process, and a pod has up to 1.5 MiB."""

log = structlog.get_logger("probelet.agent")


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options from the command line and the configuration.

    ``namespace`` is the agent's own; ``log_root`` is the kubelet's directory for logs; ``probe_grace`` says that the
    gate ProbeTerminationGracePeriod is on; ``journal`` has the results of the engine's journal; ``holder`` names this
    process in the Lease. ``enhanced_engine`` makes the engine for the probes of the node's NodePodProbe; None leaves
    them to another prober.
    """

    namespace: str
    state_dir: Path
    holder: str
    log_root: Path = Path("/var/log/pods")
    probe_grace: bool = True
    kubelet_version: str = "1.36"
    configuration: Mapping[str, Any] = msgspec.field(default_factory=dict)
    event_wording: EventWording = "kubelet"
    journal: Known = msgspec.field(default_factory=dict)
    node_executor: Literal["own", "external"] = "own"
    """The executor of ContainerRecreateRequests for this node: this agent, or OpenKruise's daemon."""
    enhanced_engine: Callable[[], Engine] | None = None
    probe_options: OptionDefaults | None = None
    """The options of probes whose pods name no others by annotation; None if pods may have none."""
    probe_changes: bool = False
    """The probes of a pod that asked for it from the first change with its annotations."""
    incidents: CommandReader | None = None
    """Notices incidents, and reads the commands of exec probes with this; None for an agent that does not."""
    hold_kills: HoldOptions = NO_HOLD
    """Which liveness kills wait for the end of an incident; needs ``incidents``."""
    incident_webhook: str | None = None
    """The Alertmanager's URL for alerts; needs ``incidents``."""
    is_kruise_here: bool = False
    """OpenKruise may ask for probes that no annotation of their pods has."""


class AgentService:
    """``start``, then ``run`` of the host until it is cancelled, then ``close``; all on one event loop.

    ``close`` closes the host; the connection stays the caller's.
    """

    def __init__(self, host: RuntimeHost, connection: Connection, options: AgentOptions) -> None:
        self.host = host
        self._connection = connection
        self._options = options
        self._events = EventWriter(connection, COMPONENT, host.node, host.timers)
        host.recorder.sinks.append(sink_of(self._events))
        self._intents = JsonFiles(options.state_dir, INTENTS, Intent)
        hooks = Hooks(host.client, f"kube-lifecycle/{options.kubelet_version}")
        self._kills = Kills(KillParts(host, hooks, self._intents, options.probe_grace))
        self._conditions = Conditions(connection, host.timers, host.tasks)
        self._pauses = Pauses(host, JsonFiles(options.state_dir, PAUSES, PausedPod))
        parts = AgentParts(
            host,
            self._kills,
            self._conditions,
            self._pauses,
            options.journal,
            self._is_away,
            probe_options=options.probe_options,
            read_command=options.incidents,
        )
        self.pods = AgentPods(parts, options.namespace, self._forget)
        files = JsonFiles(options.state_dir, PODS, FirstSeen)
        may_change = options.probe_changes
        self._source = PodSource(host, files, self.pods, options.namespace, probe_changes=may_change)
        self._reflector: Reflector[Watched] = Reflector(
            connection,
            kinds.PODS,
            self._source.decode,
            clock=host.timers,
            on_change=self._pod_changed,
            on_connected=self._connected,
            fields=f"spec.nodeName={host.node}",
            page=LIST_PAGE,
        )
        self._heartbeat = Heartbeat(connection, lease_name(host.node), options.namespace, options.holder, host.timers)
        self._executor: Executor | None = None
        if options.node_executor == "own":
            notes = JsonFiles(options.state_dir, REQUESTS, RequestNote)
            self._executor = Executor(ExecutorParts(host, connection, self._kills, notes, self._observe))
        self._enhanced = self._enhanced_liveness()
        host.own(self._counts, self, self._observe)
        self.commands = AgentCommands(self.pods.by_uid, self._pauses, options.log_root)
        """The commands of an operator."""
        of_enhanced = (lambda: b"") if self._enhanced is None else self._enhanced.metrics
        self.view = AgentView(host, options.configuration, self.pods, self._pauses, self._numbers, of_enhanced)
        """The content of the pages."""

    async def start(self) -> None:
        """Finds the runtime, lists it, and begins to follow both it and the API server. Raises CriError, one line for
        the user, if the runtime cannot be used. The API server may be away."""
        host = self.host
        if self._options.incidents is not None:
            host.incidents.begin(host.batches, self._options.hold_kills)
            on_node = node_record(self._events)
            host.incidents.listeners.append(IncidentEvents(host.incidents, host.recorder.record, on_node))
            tell_webhook(host, self._options.incident_webhook)
        # The pods of an earlier agent, so that the first list of the runtime has their containers.
        self._pauses.load()
        self._source.load()
        wording = self._options.event_wording
        host.drift.begin(self.pods.by_uid)
        await host.start(ProbedPods(self.pods.by_uid, host.recorder, host.execs.start, wording, self._result_changed))
        for work in (self._reflector.run(), self._events.run(), self._heartbeat.run(), self._begin()):
            host.tasks.spawn(work)
        if self._enhanced is not None:
            self._enhanced.start()

    def __contains__(self, uid: object) -> bool:
        """Whether the containers of the pod are in the cache: it has a probe here, or a request is about it."""
        if uid in self.pods.by_uid or (self._executor is not None and uid in self._executor):
            return True
        return self._enhanced is not None and uid in self._enhanced.pods

    def _counts(self, sandbox: labels.Sandbox) -> bool:
        """Whether a sandbox is one of this agent's pods, and no ``probelet run`` here made it. A kubelet's sandboxes
        have no label that says which kubelet made them; the UID comes from the API server."""
        return labels.NODE not in sandbox.labels and labels.pod_uid(sandbox) in self

    def _enhanced_liveness(self) -> Enhanced | None:
        make_engine = self._options.enhanced_engine
        if make_engine is None:
            return None
        return Enhanced(
            EnhancedDependencies(
                host=self.host,
                connection=self._connection,
                make_engine=make_engine,
                api_pod=self._api_pod,
                has_started=self.pods.has_started,
                made_startups=self.pods.made_startups,
                is_taken_over=self.pods.by_uid.__contains__,
                on_served=self._served,
                is_asked_only=not self._options.is_kruise_here,
            )
        )

    def _is_away(self) -> bool:
        return not self._reflector.connected

    def _served(self) -> None:
        if self._executor is not None:
            self._executor.ask_now()

    def _api_pod(self, uid: str, namespace: str, name: str) -> ApiPod | None:
        watched = self._reflector.items.get((namespace, name))
        return watched.api if watched is not None and watched.api.uid == uid else None

    def _pod_changed(self, before: Watched | None, now: Watched | None) -> None:
        self._source.changed(before, now)
        if self._executor is not None:
            self._executor.pod_changed(None if before is None else before.api, None if now is None else now.api)
        if self._enhanced is not None and (watched := now or before) is not None:
            self._enhanced.observe(watched.api.uid)

    def _observe(self, uid: str) -> None:
        self.pods.observe(uid)
        if self._executor is not None:
            self._executor.observe(uid)
        if self._enhanced is not None:
            self._enhanced.observe(uid)

    def _result_changed(self, update: Update) -> None:
        if self._enhanced is not None and update.probe_type == "startup":
            self._enhanced.observe(update.pod_uid)

    def _forget(self, uid: str) -> None:
        self._source.forget(uid)
        self._pauses.forget(uid)

    async def _begin(self) -> None:
        """Begins to probe: with what the API server has, or without it after ``API_PATIENCE_NS``."""
        synced = asyncio.ensure_future(self._reflector.synced.wait())
        try:
            if not await self.host.timers.done_within(API_PATIENCE_NS, synced):
                log.warning("the API server is away: beginning with the pods of an earlier agent")
            else:
                self._keep_listed()
                await self._close_gates()
            # Which pods terminate is known as well as it can be, so no kill of an earlier agent goes on in vain.
            self._resume(self._intents.load())
            self.pods.begin()
            await synced
            self._keep_listed()
        finally:
            synced.cancel()

    async def _close_gates(self) -> None:
        """Closes what an earlier agent left open for another instance, before anything else."""
        self.pods.close_gates()
        if not self._conditions.waiting:
            return
        closed = asyncio.ensure_future(self._conditions.idle())
        try:
            await self.host.timers.done_within(CLOSE_PATIENCE_NS, closed)
        finally:
            closed.cancel()

    def _resume(self, intents: list[Intent]) -> None:
        if self._executor is None:
            self._kills.resume(intents, self.pods.by_uid)
            return
        self._kills.resume((each for each in intents if each.reason is not KillReason.RECREATE), self.pods.by_uid)
        self._executor.resume(each for each in intents if each.reason is KillReason.RECREATE)
        self.host.tasks.spawn(self._executor.run())

    def _keep_listed(self) -> None:
        self._source.keep_only({watched.api.uid for watched in self._reflector.items.values()})

    def _connected(self, connected: bool) -> None:
        if connected:
            self._conditions.hurry()
        self.pods.observe_all()

    async def close(self) -> None:
        """Stops everything that runs here. The next agent goes on with the kills that are under way."""
        await self.host.tasks.close()
        if self._enhanced is not None:
            await self._enhanced.close()
        await self.host.close()

    def _numbers(self, runtime_up: bool) -> Numbers:
        pods, kills, reflector = self.pods.by_uid.values(), self._kills, self._reflector
        host, enhanced = self.host, self._enhanced
        return Numbers(
            pods=len(pods),
            pods_terminating=sum(pod.terminating.is_set() for pod in pods),
            pods_with_problems=sum(bool(pod.problems) for pod in pods),
            api_up=reflector.connected,
            api_silent_seconds=(host.timers.now() - reflector.last_contact_ns) / SECOND,
            runtime_up=runtime_up,
            condition_writes=self._conditions.counts,
            conditions_waiting=self._conditions.waiting,
            kills=kills.counts,
            requests={} if self._executor is None else self._executor.counts,
            requests_open=0 if self._executor is None else len(self._executor),
            probes_paused=self._pauses.count,
            kills_under_way=len(kills),
            kills_resumed=kills.resumed,
            annotation_changes_ignored=self._source.changed_annotations,
            state_write_errors=self._source.write_errors,
            events_dropped={
                "engine": host.batches.events_dropped + (0 if enhanced is None else enhanced.probes.events_dropped),
                "full_queue": self._events.lost,
                "refused": self._events.refused,
                "spam_filter": self._events.spam,
            },
            execs=host.execs.counts,
        )
