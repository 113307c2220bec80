"""The service: every part of the node put together, on one event loop.

It does not know which runtime is behind the client, nor who shows its status: it is a ``server.view.View``.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import structlog

from probelet._rust import Engine
from probelet.cri.client import RuntimeClient
from probelet.execs.limits import ExecLimits
from probelet.execs.runtime_execs import RuntimeExecs
from probelet.exposition.process_metrics import render_process
from probelet.node.aging import Aging
from probelet.node.changes import Changes, HandedOver
from probelet.node.metrics.counters import Counters, Gauges
from probelet.node.metrics.crash_loop import CrashLoopMetrics
from probelet.node.metrics.pods import KnownPod, PodMetrics, render_pods
from probelet.node.pod import NodePod, Parts
from probelet.node.recorder import Recorder
from probelet.node.releases import Releases
from probelet.node.runtime.cache import PodCache
from probelet.node.runtime.effects import Effects
from probelet.node.runtime.images import Images
from probelet.node.runtime.orphans import Orphans
from probelet.node.runtime.pleg import Pleg
from probelet.node.runtime.runtime_calls import RuntimeCalls
from probelet.node.source.difference import difference
from probelet.node.status import status_document
from probelet.node.tasks import Tasks
from probelet.node.timers import Timers
from probelet.node.wording import EventWording
from probelet.policy.action import Publish, Terminate
from probelet.policy.kind import containers
from probelet.policy.node.restart_gate import RestartGate
from probelet.server.command import NoSuchPodError
from probelet.spec.read.json import encode_pod
from probelet.spec.read.load import Manifest
from probelet.spec.text.duration import SECOND

DRAIN_SLACK_NS: Final = 30_000_000_000
"""What ending a pod may take beyond its grace: stopping and removing its sandbox, on a machine that is busy. A hundred
pods take longer, because a runtime ends a few at a time: so it is the time in which at least one of them has to go."""

log = structlog.get_logger("probelet.node")


class Service:
    """Runs the pods it is given until it is drained.

    ``start``, then ``set_pods`` as often as the source has news, ``drain`` once, ``close``. All on one event loop.
    The engine is taken over and closed; the client stays the caller's.

    ``on_host`` says that the runtime's containers are processes of this machine and not made from images,
    ``probe_grace`` that the gate ProbeTerminationGracePeriod is on; ``kubelet_version`` is what HTTP hooks call
    themselves; ``configuration`` is what ``/configz`` shows; ``release_on_dependency``, ``event_wording`` and
    ``max_age_ns`` (``maxContainerAge``) as in ProbeletConfiguration; ``calls`` is the client's observer;
    ``parallel_pulls`` is how many images may be pulled at once, None for any number; ``on_publish`` hears each status
    that is set, with the pod's UID.
    """

    def __init__(
        self,
        client: RuntimeClient,
        engine: Engine,
        gate: RestartGate,
        *,
        node: str,
        log_root: Path,
        on_host: bool = False,
        probe_grace: bool = True,
        kubelet_version: str = "1.36",
        configuration: dict[str, Any] | None = None,
        exec_limits: ExecLimits | None = None,
        calls: RuntimeCalls | None = None,
        parallel_pulls: int | None = 1,
        event_wording: EventWording = "kubelet",
        max_age_ns: int | None = None,
        on_publish: Callable[[str, Publish], None] | None = None,
        release_on_dependency: bool = False,
    ) -> None:
        self._client = client
        self._engine = engine
        self._gate = gate
        self._node = node
        self._log_root = log_root
        self._on_host = on_host
        self._probe_grace = probe_grace
        self._on_publish = on_publish
        self._user_agent = f"kube-lifecycle/{kubelet_version}"
        self._configuration = configuration or {}
        self._tasks = Tasks()
        self.timers = Timers(engine)
        """The engine's clock and deadlines."""
        self._cache = PodCache()
        self._counters = Counters()
        curve = gate.options
        source = self._configuration.get("crashLoopBackOff", {}).get("source", "default")
        self._pod_metrics = PodMetrics()
        self._crash_loop = CrashLoopMetrics(curve.initial_ns, curve.max_ns, curve.reset_ns, source)
        gate.observer = self._crash_loop
        self.recorder = Recorder(engine.now, engine.wall_ms)
        """Where events go; listen to it to narrate."""
        self._execs = RuntimeExecs(client, engine, exec_limits)
        self._calls = calls or RuntimeCalls()
        self._parallel_pulls = parallel_pulls
        self._pods: dict[str, NodePod] = {}
        self._releases = Releases(self._pods) if release_on_dependency else None
        self._changes = Changes(
            engine,
            execs=self._execs,
            recorder=self.recorder,
            timers=self.timers,
            pods=self._pods,
            releases=self._releases,
            wording=event_wording,
        )
        # A pod that may not begin before another of its name or UID has ended, by name.
        self._waiting: dict[str, Manifest] = {}
        self._aging = None if max_age_ns is None else Aging(max_age_ns, gate, engine, self.timers, self._pods)
        self._empty = asyncio.Event()
        self._empty.set()
        self._parts: Parts | None = None
        self._pleg: Pleg | None = None
        self._draining = False

    async def start(self) -> None:
        """Meet the runtime and see what it has. Raises CriError, for the user in one line, when it cannot be used."""
        version = await self._client.verify()
        runtime = version.runtime_name
        self._pleg = pleg = Pleg(self._client, self._cache, self.timers, runtime, self._observe)
        effects = Effects(
            self._client,
            self._cache,
            pleg,
            Images(self._client, self._engine.now, self._parallel_pulls),
            runtime=runtime,
            node=self._node,
            log_root=self._log_root,
            on_host=self._on_host,
            user_agent=self._user_agent,
        )
        self._parts = Parts(
            engine=self._engine,
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
            on_publish=self._on_publish,
        )
        await pleg.relist()
        self._changes.watch()
        self._tasks.spawn(pleg.follow())
        self._tasks.spawn(pleg.relist_for_ever())
        if self._aging is not None:
            self._tasks.spawn(self._aging.run())
        log.info("runtime found", endpoint=self._client.endpoint, runtime=runtime, version=version.runtime_version)

    async def run(self) -> None:
        """Wait until something goes wrong that should never go wrong, and raise it. Cancelling this stops nothing."""
        await self._tasks.failure()

    # Which pods.

    def set_pods(self, manifests: Iterable[Manifest]) -> None:
        """Run exactly these pods: new ones are started, those that are missing end within their grace."""
        wanted = list(manifests)
        running = {uid: pod.manifest for uid, pod in self._pods.items() if not pod.removing}
        running |= {manifest.pod.metadata.uid: manifest for manifest in self._waiting.values()}
        change = difference(running, wanted)
        for uid in change.removed:
            self._remove(uid, running[uid])
        for manifest in change.added:
            self._add(manifest)

    async def remove_orphans(self) -> None:
        """End what an earlier probelet of this node left on the runtime and no pod given to ``set_pods`` claims."""
        orphans = Orphans(self._client, self.timers, self._tasks, node=self._node, log_root=self._log_root)
        await orphans.remove(self._pods)

    def _add(self, manifest: Manifest) -> None:
        assert self._parts is not None, "start comes before set_pods"
        pod, uid = manifest.pod, manifest.pod.metadata.uid
        others = self._changes.handed_over
        if others is not None and others.owns(uid):
            log.error("a pod of another node agent has this UID", pod=pod.full_name, uid=uid, path=str(manifest.path))
            self._waiting[pod.full_name] = manifest
            return
        if uid in self._pods or any(other.pod.full_name == pod.full_name for other in self._pods.values()):
            # As the kubelet does for static pods: one of a name at a time (pod_workers.go:allowPodStart, 1.36).
            self._waiting[pod.full_name] = manifest
            return
        self._engine.define_pod(encode_pod(pod))
        self._empty.clear()
        added = self._pods[uid] = NodePod(manifest, self._parts, self._gone)
        running = len(self._cache.snapshot(uid).running())
        said = {"adopted": running} if running else {}
        log.info("pod added", pod=pod.full_name, uid=uid, path=str(manifest.path), **said)
        added.observe()

    def _remove(self, uid: str, manifest: Manifest) -> None:
        if self._waiting.get(manifest.pod.full_name) is manifest:
            del self._waiting[manifest.pod.full_name]
            return
        log.info("pod removed", pod=manifest.pod.full_name, uid=uid)
        self._pods[uid].end(Terminate())

    def _gone(self, pod: NodePod) -> None:
        del self._pods[pod.uid]
        if self._releases is not None:
            self._releases.forget(pod.uid)
        log.info("pod gone", pod=pod.pod.full_name)
        if not self._pods:
            self._empty.set()
        waiting = self._waiting.pop(pod.pod.full_name, None)
        if waiting is not None and not self._draining:
            self._add(waiting)

    # Pods of other node agents, on the same engine.

    def share(self, handed_over: HandedOver) -> None:
        """Let another node agent's pods be probed by this engine; their part of its news goes to ``handed_over``."""
        self._changes.handed_over = handed_over

    @property
    def engine(self) -> Engine:
        """The engine, for pods that are handed over."""
        return self._engine

    def has(self, uid: str) -> bool:
        """Whether a pod with this UID runs here, or is to."""
        return uid in self._pods or any(manifest.pod.metadata.uid == uid for manifest in self._waiting.values())

    def claimant(self, container_id: str) -> str | None:
        """NAMESPACE/NAME of the pod here that has this container, running or not."""
        has = (pod.full_name for uid, pod in self._pods.items() if self._cache.container(uid, container_id))
        return next(has, None)

    def released(self, uid: str) -> None:
        """A pod that was handed over is nobody's any more: one of ours that waited for its UID begins."""
        found = [manifest for manifest in self._waiting.values() if manifest.pod.metadata.uid == uid]
        if found and uid not in self._pods and not self._draining:
            del self._waiting[found[0].pod.full_name]
            self._add(found[0])

    def _observe(self, uid: str) -> None:
        if pod := self._pods.get(uid):
            pod.observe()

    # What an operator may ask for (server.command.Commands).

    def retry(self, pod: str, container: str | None) -> list[str]:
        """Start a pod's waiting containers now. Raises NoSuchPodError."""
        found, names = self._named(pod, container)
        return found.release(names)

    def reset(self, pod: str, container: str | None) -> list[str]:
        """Forget the restart delays of a pod's containers. Raises NoSuchPodError."""
        found, names = self._named(pod, container)
        return found.reset(names)

    def _named(self, name: str, container: str | None) -> tuple[NodePod, list[str]]:
        pods = [pod for pod in self._pods.values() if name in (pod.full_name, pod.pod.metadata.name)]
        if not pods:
            raise NoSuchPodError(f'there is no pod "{name}"')
        if len(pods) > 1:
            raise NoSuchPodError(f'pod "{name}" is in several namespaces: {", ".join(p.full_name for p in pods)}')
        names = [known.name for _, known in containers(pods[0].pod)]
        if container is not None and container not in names:
            raise NoSuchPodError(f'pod "{name}" has no container "{container}", but {", ".join(names)}')
        return pods[0], names if container is None else [container]

    # The end.

    async def drain(self, grace_seconds: int | None = None, *, at_once: bool = False) -> list[str]:
        """End every pod, all at the same time, each within its own grace or ``grace_seconds``, or ``at_once``.

        Returns the names of pods that could not be ended in that time (and some slack, which begins anew while others
        are ended): the runtime is gone, or does not do what it says. May be called again with less grace meanwhile.
        """
        self._draining = True
        self._waiting.clear()
        end = Terminate(grace_seconds, at_once)
        limit = 0
        for pod in list(self._pods.values()):
            limit = max(limit, pod.end(end))
        left, wait_ns = len(self._pods), limit * 1_000_000_000 + DRAIN_SLACK_NS
        while not await self._empty_within(wait_ns) and len(self._pods) < left:
            left, wait_ns = len(self._pods), DRAIN_SLACK_NS
        return [pod.pod.full_name for pod in self._pods.values()]

    async def _empty_within(self, wait_ns: int) -> bool:
        """Wait until no pod is left, but no longer than this; whether none is left."""
        empty = asyncio.ensure_future(self._empty.wait())
        try:
            return await self.timers.done_within(wait_ns, empty)
        finally:
            empty.cancel()

    async def close(self) -> None:
        """Stop everything that runs here. Pods that were not drained stay as they are on the runtime."""
        await self._tasks.close()
        await self._execs.close()
        self._changes.close()
        self._engine.close()

    # What it shows (server.view.View).

    def status(self) -> dict[str, Any]:
        """The status document."""
        return status_document(
            self._pods.values(),
            node=self._node,
            engine=self._engine,
            gate=self._gate,
        )

    def configz(self) -> dict[str, Any]:
        """The effective configuration, as read at start."""
        return self._configuration

    def events(self, since: int) -> list[dict[str, Any]]:
        """The events kept with ``seq > since``, oldest first."""
        return self.recorder.events(since)

    def metrics(self) -> bytes:
        """The page ``/metrics``: the engine's series, then the node's own."""
        waiting = sum(len(pod.machine.waiting_restarts()) for pod in self._pods.values())
        loops = self._crash_loop.render(entries=self._gate.entries(self.timers.now()), waiting=waiting)
        own = self._counters.render(self._gauges())
        pages = (self._engine.metrics(), own, self._calls.render(), loops, self._pod_metrics.render(), render_process())
        return b"".join(pages)

    def metrics_pods(self) -> bytes:
        """The page ``/metrics/pods``."""
        zero = self._engine.wall_ms() / 1_000 - self.timers.now() / SECOND
        known = (KnownPod(p.pod, zero + p.added_ns / SECOND, p.machine.statuses.values()) for p in self._pods.values())
        return render_pods(known)

    def _gauges(self) -> Gauges:
        pods = self._pods.values()
        return Gauges(
            pods=Counter(str(pod.machine.phase) for pod in pods),
            runtime_up=self._pleg is not None and self._pleg.error is None,
            execs=self._execs.counts,
            pulls_waiting=sum(len(pod.machine.waits) - len(pod.machine.waiting_restarts()) for pod in pods),
            events_dropped={"engine": self._changes.events_dropped, "spam_filter": self.recorder.dropped},
            aged=None if self._aging is None else self._aging.policy,
            handed_over=0 if self._changes.handed_over is None else self._changes.handed_over.pods,
        )

    def metrics_probes(self) -> bytes:
        """The page ``/metrics/probes``."""
        return self._engine.metrics_probes()

    def ready(self) -> tuple[bool, str]:
        """Whether pods are run: the runtime answers, and nobody has asked for the end."""
        if self._draining:
            return False, "draining"
        if self._pleg is None:
            return False, "starting"
        error = self._pleg.error
        return error is None, "" if error is None else f"runtime: {error}"
