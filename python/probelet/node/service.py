"""The service: puts every part of the node together, on one event loop.

The client decides which runtime it is, and ``view`` shows the node to any server of pages.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from probelet._rust import Engine
from probelet.base.exposition.wording import EventWording
from probelet.host.changes import Changes
from probelet.host.handed_over import HandedOver
from probelet.host.recorder import Recorder
from probelet.host.tasks import Tasks
from probelet.host.timers import Timers
from probelet.node.aging import Aging
from probelet.node.effects.effects import Effects
from probelet.node.effects.images import Images
from probelet.node.effects.linux.host import this_host
from probelet.node.effects.logs.rotation import LogRotation
from probelet.node.effects.logs.upkeep import LogUpkeep
from probelet.node.effects.mounts.pod_files import PodFiles
from probelet.node.effects.mounts.termination_message import TerminationMessages
from probelet.node.effects.orphans import RETRY_NS, Orphans
from probelet.node.foreign_listeners import ForeignListeners
from probelet.node.metrics.counters import Counters
from probelet.node.metrics.crash_loop import CrashLoopMetrics
from probelet.node.metrics.pods import PodMetrics
from probelet.node.operator import Operator
from probelet.node.pod import Parts
from probelet.node.pods import NodePods
from probelet.node.source.mistakes import Mistakes
from probelet.node.view import NodeView, Sources
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.protocol.actions import Publish
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.runtime_execs import RuntimeExecs
from probelet.runtime.seen import labels
from probelet.runtime.seen.cache import PodCache
from probelet.runtime.seen.inspection import Inspection
from probelet.runtime.seen.node_address import node_address
from probelet.runtime.seen.pleg import Pleg
from probelet.runtime.seen.runtime_calls import RuntimeCalls
from probelet.spec.objects.config_object import ObjectStore

log = structlog.get_logger("probelet.node")


class Service:
    """Runs pods until they are drained.

    ``start``, then ``pods.set`` whenever the source has news, ``pods.drain`` once, ``close``. All on one event loop.
    ``close`` closes the engine and ``direct_execs`` (``execMode: direct``); the client stays the caller's.

    ``cluster_domain`` ends the domain of a pod with a ``subdomain``;
    ``log_root`` is the directory of the pods' logs, ``logs`` their upkeep;
    ``root`` is the directory for files that containers get as mounts, None on a runtime without mounts;
    ``on_host`` says that the runtime's containers are processes of this machine and not made from images,
    ``probe_grace`` that the gate ProbeTerminationGracePeriod is on; HTTP hooks name ``kubelet_version`` in their user
    agent; ``/configz`` shows ``configuration``; ``release_on_dependency``, ``event_wording`` and ``max_age_ns``
    (``maxContainerAge``) are opt-ins of ProbeletConfiguration; ``calls`` is the client's observer;
    ``parallel_pulls`` is how many images may be pulled at once, None for any number; ``seccomp_default`` gives the
    runtime's seccomp profile to containers that name none; ``objects`` has the ConfigMaps and Secrets of the manifests;
    ``mistakes`` gives the mistakes of the newest manifests; ``on_publish`` is called with the pod's UID and each status
    that is set.
    """

    def __init__(
        self,
        client: RuntimeClient,
        engine: Engine,
        gate: RestartGate,
        *,
        node: str,
        cluster_domain: str = "",
        log_root: Path,
        logs: LogUpkeep = LogUpkeep(),  # noqa: B008
        root: Path | None = None,
        on_host: bool = False,
        probe_grace: bool = True,
        kubelet_version: str = "1.36",
        configuration: Mapping[str, Any] | None = None,
        exec_limits: ExecLimits | None = None,
        direct_execs: DirectExecs | None = None,
        calls: RuntimeCalls | None = None,
        parallel_pulls: int | None = 1,
        seccomp_default: bool = False,
        objects: ObjectStore | None = None,
        event_wording: EventWording = "kubelet",
        max_age_ns: int | None = None,
        on_publish: Callable[[str, Publish], None] | None = None,
        release_on_dependency: bool = False,
        mistakes: Callable[[], Mistakes] = Mistakes,
    ) -> None:
        configuration = configuration or {}
        self.engine = engine
        """The engine, also for pods that other node agents hand over."""
        self.timers = Timers(engine)
        """The engine's clock and deadlines."""
        self.recorder = Recorder(engine.now, engine.wall_ms)
        """The recorder of events; a listener gets each event."""
        self._client = client
        self._gate = gate
        self._node = node
        self._log_root = log_root
        self._logs = logs
        self._files = None if root is None else PodFiles(root)
        self._on_host, self._probe_grace = on_host, probe_grace
        self._on_publish = on_publish
        self._user_agent = f"kube-lifecycle/{kubelet_version}"
        self._parallel_pulls = parallel_pulls
        self._host = this_host(seccomp_default=seccomp_default, cluster_domain=cluster_domain, disk=root or log_root)
        self._host_ip = node_address(on_host=on_host)
        self._objects = objects or ObjectStore()
        self._tasks = Tasks()
        self._cache = PodCache()
        self._execs = RuntimeExecs(client, engine, exec_limits, direct_execs)
        self.pods = NodePods(engine, self.timers, self._cache, release_on_dependency=release_on_dependency)
        """Which pods run."""
        self.operator = Operator(self.pods.by_uid, log_root)
        """The commands of an operator."""
        self._counters, self._pod_metrics = Counters(), PodMetrics()
        self._crash_loop = _crash_loop_metrics(gate, configuration)
        self._listeners = ForeignListeners(client, engine, self.recorder, self.timers) if on_host else None
        self._changes = self._read_batches(event_wording)
        pods = self.pods.by_uid
        self._aging = None if max_age_ns is None else Aging(max_age_ns, gate, engine, self.timers, pods)
        self.view = NodeView(self._sources(configuration, calls or RuntimeCalls(), mistakes))
        """The content of the pages."""

    def _read_batches(self, wording: EventWording) -> Changes:
        releases = self.pods.releases
        return Changes(
            self.engine,
            execs=self._execs,
            recorder=self.recorder,
            timers=self.timers,
            pods=self.pods.by_uid,
            wording=wording,
            listeners=self._listeners,
            handed_over=lambda: self.pods.handed_over,
            on_update=None if releases is None else releases.note,
        )

    def _sources(
        self, configuration: Mapping[str, Any], calls: RuntimeCalls, mistakes: Callable[[], Mistakes]
    ) -> Sources:
        return Sources(
            node=self._node,
            configuration=configuration,
            engine=self.engine,
            gate=self._gate,
            pods=self.pods,
            changes=self._changes,
            recorder=self.recorder,
            execs=self._execs.counts,
            calls=calls,
            counters=self._counters,
            crash_loop=self._crash_loop,
            pod_metrics=self._pod_metrics,
            aging=self._aging,
            mistakes=mistakes,
            listeners=self._listeners,
        )

    async def start(self) -> None:
        """Finds the runtime and lists its pods. Raises CriError, one line for the user, if it cannot be used."""
        version = await self._client.verify()
        runtime = version.runtime_name
        inspection = Inspection(self._client, self._cache, self.timers, runtime, self._messages())
        pleg = self.view.pleg = Pleg(
            self._client,
            self._cache,
            self.timers,
            self._tasks,
            inspection,
            counts=partial(labels.is_of, self._node),
            own=self.pods.by_uid,
            on_change=self.pods.observe,
        )
        self.pods.begin(self._parts(pleg, inspection))
        # The list has a limit of time, and its end arrives in a batch.
        self._changes.watch()
        await pleg.relist()
        self._tasks.spawn(pleg.follow())
        self._tasks.spawn(pleg.relist_for_ever())
        if self._aging is not None:
            self._tasks.spawn(self._aging.run())
        self._begin_logs()
        if self._listeners is not None:
            self._tasks.spawn(self._listeners.run())
        log.info("runtime found", endpoint=self._client.endpoint, runtime=runtime, version=version.runtime_version)

    def _begin_logs(self) -> None:
        if self._logs.limits is not None:
            rotation = LogRotation(
                self._client,
                self._cache,
                self.timers,
                self.pods.by_uid,
                log_root=self._log_root,
                limits=self._logs.limits,
                period_ns=self._logs.period_ns,
            )
            self._tasks.spawn(rotation.run())
        if self._logs.kept is not None:
            self._tasks.spawn(self._logs.kept.follow(self.timers.sleep))

    def _messages(self) -> TerminationMessages | None:
        return None if self._files is None else TerminationMessages(self._files, self._log_root)

    def _parts(self, pleg: Pleg, inspection: Inspection) -> Parts:
        effects = Effects(
            self._client,
            self._cache,
            inspection,
            Images(self._client, self.timers.now, self._parallel_pulls),
            node=self._node,
            log_root=self._log_root,
            files=self._files,
            kept_logs=self._logs.kept,
            on_host=self._on_host,
            host=self._host,
            host_ip=self._host_ip,
            objects=self._objects,
            user_agent=self._user_agent,
            request_relist=pleg.request_relist,
            shared_network=self._listeners,
        )
        return Parts(
            engine=self.engine,
            gate=self._gate,
            cache=self._cache,
            effects=effects,
            recorder=self.recorder,
            timers=self.timers,
            tasks=self._tasks,
            counters=self._counters,
            crash_loop=self._crash_loop,
            pod_metrics=self._pod_metrics,
            probe_grace=self._probe_grace,
            images=not self._on_host,
            host_ip=self._host_ip,
            on_publish=self._on_publish,
        )

    async def run(self) -> None:
        """Waits until a part of the service fails that must never fail, and raises its exception. Cancelling this
        stops nothing."""
        await self._tasks.failure()

    async def remove_orphans(self) -> None:
        """Ends the pods that an earlier probelet of this node left on the runtime and that ``pods`` does not have."""
        orphans = Orphans(
            self._client,
            self.timers,
            self._tasks,
            node=self._node,
            log_root=self._log_root,
            files=self._files,
            recorder=self.recorder,
        )
        await orphans.remove(self.pods.by_uid)

    async def remove_orphans_later(self, right: asyncio.Event) -> None:
        """Removes the orphans once ``right`` is set, and never returns.

        ``right``: no manifest has a mistake. Until then one of the orphans may be the pod of the manifest with the
        mistake, which goes on as it is, as it would if its manifest broke in operation.
        """
        await right.wait()
        while True:
            try:
                await self.remove_orphans()
                break
            except CriError as error:
                log.warning("pods without a manifest could not be listed", error=str(error))
            await self.timers.sleep(RETRY_NS)
        await asyncio.get_running_loop().create_future()

    def share(self, handed_over: HandedOver) -> None:
        """Lets this engine probe pods of another node agent; ``handed_over`` gets their part of each batch."""
        self.pods.handed_over = handed_over

    async def close(self) -> None:
        """Stops everything that runs here. Pods that were not drained stay as they are on the runtime."""
        await self._tasks.close()
        await self._execs.close()
        self._changes.close()
        self.engine.close()
        self._changes.log_notices(self.engine.drain())


def _crash_loop_metrics(gate: RestartGate, configuration: Mapping[str, Any]) -> CrashLoopMetrics:
    """The metrics of restarts, as the gate's observer."""
    curve = gate.options
    source = configuration.get("crashLoopBackOff", {}).get("source", "default")
    gate.observer = metrics = CrashLoopMetrics(curve.initial_ns, curve.max_ns, curve.reset_ns, source)
    return metrics
