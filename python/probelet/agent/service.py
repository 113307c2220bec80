"""The service of an agent: puts its parts together on one event loop."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import structlog

from probelet._rust import Engine, Update
from probelet.agent.enhanced.dependencies import EnhancedDependencies
from probelet.agent.enhanced.enhanced import Enhanced
from probelet.agent.kill.kill import KillParts
from probelet.agent.kill.kills import Kills
from probelet.agent.pod.agent_pods import AgentPods
from probelet.agent.pod.parts import Parts
from probelet.agent.pod.pauses import Pauses
from probelet.agent.recreate.executor import Executor
from probelet.agent.recreate.parts import ExecutorParts
from probelet.agent.report.conditions import Conditions
from probelet.agent.report.events import COMPONENT, Events
from probelet.agent.show.metrics import Numbers
from probelet.agent.show.operator import Operator
from probelet.agent.show.view import AgentView, Sources
from probelet.agent.source.owned import owned
from probelet.agent.source.pod_source import PodSource, Watched
from probelet.agent.state import records
from probelet.agent.state.json_files import JsonFiles
from probelet.agent.state.records import FirstSeen, Intent, PausedPod, RequestNote
from probelet.base.exposition.wording import EventWording
from probelet.beside.pods.api_pod import ApiPod
from probelet.beside.pods.facts import Known
from probelet.beside.takeover.lease import lease_name
from probelet.host.changes import Changes
from probelet.host.tasks import Tasks
from probelet.host.timers import Timers
from probelet.kube.connection import Connection
from probelet.kube.events.writer import EventWriter
from probelet.kube.kinds import PODS
from probelet.kube.lease.heartbeat import Heartbeat
from probelet.kube.reflector import Reflector
from probelet.policy.rules.grace import KillReason
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.runtime_execs import RuntimeExecs
from probelet.runtime.seen.cache import PodCache
from probelet.runtime.seen.hooks import Hooks
from probelet.runtime.seen.inspection import Inspection
from probelet.runtime.seen.node_address import node_address
from probelet.runtime.seen.pleg import Pleg
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.spec.text.duration import SECOND

API_PATIENCE_NS: Final = 5 * SECOND
"""How long a start waits for the first list of the API server before it begins with the pods of an earlier agent. A
list takes a second or two after a rollout of all agents; a node whose API server is away must not wait for long."""

LIST_PAGE: Final = 20
"""Pods in a page of a list: what a page needs while it is read stays with the process, and a pod has up to 1.5 MiB."""

log = structlog.get_logger("probelet.agent")


@dataclass(frozen=True, kw_only=True)
class AgentOptions:
    """The options from the command line and the configuration.

    ``namespace`` is the agent's own; ``host_ip`` is the address of pods on the host's network, None for that of the
    default route; ``log_root`` is the kubelet's directory for logs; ``probe_grace`` says that the gate
    ProbeTerminationGracePeriod is on; ``journal`` has the results of the engine's journal; ``holder`` names this
    process in the Lease. ``enhanced_engine`` makes the engine for the probes of the node's NodePodProbe; None leaves
    them to another prober.
    """

    node: str
    namespace: str
    state_dir: Path
    holder: str
    host_ip: str | None = None
    log_root: Path = Path("/var/log/pods")
    probe_grace: bool = True
    kubelet_version: str = "1.36"
    configuration: Mapping[str, Any] | None = None
    exec_limits: ExecLimits | None = None
    event_wording: EventWording = "kubelet"
    journal: Known = field(default_factory=dict)
    node_executor: Literal["own", "external"] = "own"
    """The executor of ContainerRecreateRequests for this node: this agent, or OpenKruise's daemon."""
    enhanced_engine: Callable[[], Engine] | None = None


class AgentService:
    """``start``, then ``run`` until it is cancelled, then ``close``; all on one event loop.

    ``close`` closes the engine and ``direct_execs``; client and connection stay the caller's.
    """

    def __init__(
        self,
        client: RuntimeClient,
        engine: Engine,
        connection: Connection,
        options: AgentOptions,
        *,
        direct_execs: DirectExecs | None = None,
        calls: RuntimeCalls | None = None,
    ) -> None:
        self.engine = engine
        self.timers = Timers(engine)
        self._events = EventWriter(connection, COMPONENT, options.node, self.timers)
        self.recorder = Events(engine.now, engine.wall_ms, self._events)
        self.pods = AgentPods(options.namespace)
        self._client = client
        self._connection = connection
        self._options = options
        self._tasks = Tasks()
        kept = JsonFiles(options.state_dir, records.PAUSES_FOLDER, PausedPod)
        self._pauses = Pauses(engine, self.timers, kept, self._tasks)
        self.operator = Operator(self.pods.by_uid, self._pauses, options.log_root)
        self._cache = PodCache()
        self._execs = RuntimeExecs(client, engine, options.exec_limits, direct_execs)
        self._changes = Changes(
            engine,
            execs=self._execs,
            recorder=self.recorder,
            timers=self.timers,
            pods=self.pods.by_uid,
            wording=options.event_wording,
            on_update=self._note_result,
        )
        self._intents = JsonFiles(options.state_dir, records.INTENTS_FOLDER, Intent)
        files = JsonFiles(options.state_dir, records.PODS_FOLDER, FirstSeen)
        self._source = PodSource(files, options.node, self.pods, self.recorder, self._tasks)
        self._reflector: Reflector[Watched] = Reflector(
            connection,
            PODS,
            self._source.decode,
            clock=self.timers,
            on_change=self._pod_changed,
            on_connected=self._connected,
            fields=f"spec.nodeName={options.node}",
            page=LIST_PAGE,
        )
        self._conditions = Conditions(connection, self.timers, self._tasks)
        self._heartbeat = Heartbeat(
            connection, lease_name(options.node), options.namespace, options.holder, self.timers
        )
        self._kills: Kills | None = None
        self._executor: Executor | None = None
        self._enhanced: Enhanced | None = None
        sources = Sources(
            node=options.node,
            configuration=options.configuration or {},
            engine=engine,
            pods=self.pods,
            pauses=self._pauses,
            recorder=self.recorder,
            calls=calls or RuntimeCalls(),
            numbers=self._numbers,
            enhanced=lambda: b"" if self._enhanced is None else self._enhanced.metrics(),
        )
        self.view = AgentView(sources)
        """The content of the pages."""

    async def start(self) -> None:
        """Finds the runtime, lists it, and begins to follow both it and the API server. Raises CriError, one line for
        the user, if the runtime cannot be used. The API server may be away."""
        version = await self._client.verify()
        inspection = Inspection(self._client, self._cache, self.timers, version.runtime_name, None)
        pleg = self.view.pleg = Pleg(
            self._client,
            self._cache,
            self.timers,
            self._tasks,
            inspection,
            counts=owned(self),
            own=self,
            on_change=self._observe,
        )
        self._kills = kills = Kills(self._kill_parts(inspection))
        options = self._options
        host_ip = options.host_ip or node_address(on_host=False)
        if options.node_executor == "own":
            self._executor = Executor(self._executor_parts(version.runtime_name, host_ip, inspection, pleg))
        parts = Parts(
            engine=self.engine,
            cache=self._cache,
            timers=self.timers,
            recorder=self.recorder,
            kills=kills,
            conditions=self._conditions,
            pauses=self._pauses,
            host_ip=host_ip,
            journal=options.journal,
            is_away=lambda: not self._reflector.connected,
        )
        self.pods.connect(parts, pleg.request_relist, self._forget)
        self._enhanced = self._enhanced_liveness(parts, pleg)
        self._pauses.load()
        self._source.load()
        # The list has a limit of time, and its end arrives in a batch.
        self._changes.watch()
        await pleg.relist()
        for work in (
            pleg.follow(),
            pleg.relist_for_ever(),
            self._reflector.run(),
            self._events.run(),
            self._heartbeat.run(),
            self._begin(kills),
        ):
            self._tasks.spawn(work)
        if self._enhanced is not None:
            self._enhanced.start()
        log.info(
            "runtime found",
            endpoint=self._client.endpoint,
            runtime=version.runtime_name,
            version=version.runtime_version,
        )

    def __contains__(self, uid: object) -> bool:
        """Whether the containers of the pod are in the cache: it has a probe here, or a request is about it."""
        if uid in self.pods.by_uid or (self._executor is not None and uid in self._executor):
            return True
        return self._enhanced is not None and uid in self._enhanced.pods

    def _enhanced_liveness(self, parts: Parts, pleg: Pleg) -> Enhanced | None:
        options = self._options
        if options.enhanced_engine is None:
            return None
        return Enhanced(
            EnhancedDependencies(
                node=options.node,
                host_ip=parts.host_ip,
                client=self._client,
                connection=self._connection,
                timers=self.timers,
                tasks=self._tasks,
                recorder=self.recorder,
                cache=self._cache,
                exec_limits=options.exec_limits or ExecLimits(),
                make_engine=options.enhanced_engine,
                api_pod=self._api_pod,
                has_started=self.pods.has_started,
                is_taken_over=self.pods.by_uid.__contains__,
                request_relist=pleg.request_relist,
                on_served=self._served,
            )
        )

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

    def _note_result(self, update: Update) -> None:
        if self._enhanced is not None and update.probe_type == "startup":
            self._enhanced.observe(update.pod_uid)

    def _forget(self, uid: str) -> None:
        self._source.forget(uid)
        self._pauses.forget(uid)

    def _kill_parts(self, inspection: Inspection) -> KillParts:
        return KillParts(
            client=self._client,
            cache=self._cache,
            inspection=inspection,
            hooks=Hooks(self._client, f"kube-lifecycle/{self._options.kubelet_version}"),
            timers=self.timers,
            tasks=self._tasks,
            recorder=self.recorder,
            intents=self._intents,
            probe_grace=self._options.probe_grace,
        )

    def _executor_parts(self, runtime: str, host_ip: str, inspection: Inspection, pleg: Pleg) -> ExecutorParts:
        assert self._kills is not None, "kills come before requests for them"
        return ExecutorParts(
            node=self._options.node,
            runtime=runtime,
            host_ip=host_ip,
            client=self._client,
            connection=self._connection,
            cache=self._cache,
            inspection=inspection,
            timers=self.timers,
            tasks=self._tasks,
            kills=self._kills,
            notes=JsonFiles(self._options.state_dir, records.REQUESTS_FOLDER, RequestNote),
            request_relist=pleg.request_relist,
            observe=self._observe,
        )

    async def _begin(self, kills: Kills) -> None:
        """Begins to probe: with what the API server has, or without it after ``API_PATIENCE_NS``."""
        synced = asyncio.ensure_future(self._reflector.synced.wait())
        try:
            if not await self.timers.done_within(API_PATIENCE_NS, synced):
                log.warning("the API server is away: beginning with the pods of an earlier agent")
            else:
                self._keep_listed()
            # Which pods terminate is known as well as it can be, so no kill of an earlier agent goes on in vain.
            self._resume(kills, self._intents.load())
            self.pods.begin()
            await synced
            self._keep_listed()
        finally:
            synced.cancel()

    def _resume(self, kills: Kills, intents: list[Intent]) -> None:
        if self._executor is None:
            kills.resume(intents, self.pods.by_uid)
            return
        kills.resume((each for each in intents if each.reason is not KillReason.RECREATE), self.pods.by_uid)
        self._executor.resume(each for each in intents if each.reason is KillReason.RECREATE)
        self._tasks.spawn(self._executor.run())

    def _keep_listed(self) -> None:
        self._source.keep_only({watched.api.uid for watched in self._reflector.items.values()})

    def _connected(self, connected: bool) -> None:
        if connected:
            self._conditions.hurry()
        self.pods.observe_all()

    async def run(self) -> None:
        """Waits until a part of the service fails that must never fail, and raises its exception."""
        await self._tasks.failure()

    async def close(self) -> None:
        """Stops everything that runs here. The next agent goes on with the kills that are under way."""
        await self._tasks.close()
        await self._execs.close()
        if self._enhanced is not None:
            await self._enhanced.close()
        self._changes.close()
        self.engine.close()
        self._changes.log_notices(self.engine.drain())

    def _numbers(self, runtime_up: bool) -> Numbers:
        pods, kills, reflector = self.pods.by_uid.values(), self._kills, self._reflector
        return Numbers(
            pods=len(pods),
            pods_terminating=sum(pod.terminating.is_set() for pod in pods),
            pods_with_problems=sum(bool(pod.problems) for pod in pods),
            api_up=reflector.connected,
            api_silent_seconds=(self.timers.now() - reflector.last_contact_ns) / SECOND,
            runtime_up=runtime_up,
            condition_writes=self._conditions.counts,
            conditions_waiting=self._conditions.waiting,
            kills={} if kills is None else kills.counts,
            requests={} if self._executor is None else self._executor.counts,
            requests_open=0 if self._executor is None else len(self._executor),
            probes_paused=self._pauses.count,
            kills_under_way=0 if kills is None else len(kills),
            kills_resumed=0 if kills is None else kills.resumed,
            annotation_changes_ignored=self._source.changed_annotations,
            state_write_errors=self._source.write_errors,
            events_dropped={
                "engine": self._changes.events_dropped,
                "full_queue": self._events.lost,
                "refused": self._events.refused,
                "spam_filter": self._events.spam,
            },
            execs=self._execs.counts,
        )
