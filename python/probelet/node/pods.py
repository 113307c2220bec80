"""Which pods the node runs. The source says the whole set again and again; of one name and of one UID there is at most
one pod at a time, and a pod that is no longer wanted stays until its containers have ended."""

import asyncio
from collections.abc import Iterable
from typing import Final

import structlog

from probelet.node.pod import NodeParts, NodePod
from probelet.node.releases import Releases
from probelet.node.source.difference import difference
from probelet.policy.protocol.inputs import Terminate
from probelet.spec.read.json import encode_pod
from probelet.spec.read.load import Manifest
from probelet.spec.text.duration import SECOND

DRAIN_SLACK_NS: Final = 30 * SECOND
"""The time that ending a pod may take beyond its grace: stopping and removing its sandbox, on a machine that is busy. A
hundred pods take longer, because a runtime ends a few at a time; so at least one of them has to end within this
time."""

log = structlog.get_logger("probelet.node")


class NodePods:
    """The pods of the manifests."""

    def __init__(self, parts: NodeParts) -> None:
        self.by_uid: dict[str, NodePod] = {}
        """The pods that run or end."""
        self.releases = Releases(self.by_uid) if parts.options.release_on_dependency else None
        """Which containers in back-off wait for a probe, with ``releaseOnDependency``."""
        self.draining = False
        """Whether all pods are to end and no new one may begin."""
        self._parts = parts
        self._host = parts.host
        # By name, pods that may not begin before another pod of their name or UID has ended.
        self._waiting: dict[str, Manifest] = {}
        self._empty = asyncio.Event()
        self._empty.set()

    def set(self, manifests: Iterable[Manifest]) -> None:
        """Runs exactly these pods: starts the new ones, changes others, and ends each missing pod within its grace."""
        wanted = list(manifests)
        running = {uid: pod.manifest for uid, pod in self.by_uid.items() if not pod.removing}
        running |= {manifest.pod.metadata.uid: manifest for manifest in self._waiting.values()}
        change = difference(running, wanted)
        for uid in change.removed:
            self._remove(uid, running[uid])
        for manifest in change.changed:
            self._change(manifest)
        for manifest in change.added:
            self._add(manifest)

    def _add(self, manifest: Manifest) -> None:
        pod, uid = manifest.pod, manifest.pod.metadata.uid
        handed_over = self._host.batches.handed_over
        if handed_over is not None and handed_over.owns(uid):
            log.error("a pod of another node agent has this UID", pod=pod.full_name, uid=uid, path=str(manifest.path))
            self._waiting[pod.full_name] = manifest
            return
        if uid in self.by_uid or any(other.pod.full_name == pod.full_name for other in self.by_uid.values()):
            # As the kubelet does for static pods: one of a name at a time (pod_workers.go:allowPodStart, 1.36).
            self._waiting[pod.full_name] = manifest
            return
        self._host.engine.define_pod(encode_pod(pod))
        self._empty.clear()
        added = self.by_uid[uid] = NodePod(manifest, self._parts, self._gone)
        running = len(self._host.cache.snapshot(uid).running())
        said = {"adopted": running} if running else {}
        log.info("pod added", pod=pod.full_name, uid=uid, path=str(manifest.path), **said)
        added.observe()

    def _change(self, manifest: Manifest) -> None:
        if manifest.pod.full_name in self._waiting:
            self._waiting[manifest.pod.full_name] = manifest
            return
        self.by_uid[manifest.pod.metadata.uid].change(manifest)

    def _remove(self, uid: str, manifest: Manifest) -> None:
        if self._waiting.get(manifest.pod.full_name) is manifest:
            del self._waiting[manifest.pod.full_name]
            return
        log.info("pod removed", pod=manifest.pod.full_name, uid=uid)
        self.by_uid[uid].end(Terminate())

    def _gone(self, pod: NodePod) -> None:
        del self.by_uid[pod.uid]
        if self.releases is not None:
            self.releases.forget(pod.uid)
        log.info("pod gone", pod=pod.pod.full_name)
        if not self.by_uid:
            self._empty.set()
        waiting = self._waiting.pop(pod.pod.full_name, None)
        if waiting is not None and not self.draining:
            self._add(waiting)

    def observe(self, uid: str) -> None:
        """The cache has news of this pod."""
        if pod := self.by_uid.get(uid):
            pod.observe()

    # Beside pods that other node agents hand over to the same engine.

    def has(self, uid: str) -> bool:
        """Whether a pod with this UID runs here or waits to begin here."""
        return uid in self.by_uid or any(manifest.pod.metadata.uid == uid for manifest in self._waiting.values())

    def claimant(self, container_id: str) -> str | None:
        """NAMESPACE/NAME of the pod here that has this container, running or not."""
        has = (pod.full_name for uid, pod in self.by_uid.items() if self._host.cache.container(uid, container_id))
        return next(has, None)

    def released(self, uid: str) -> None:
        """A pod is no longer handed over: a pod here that waited for its UID begins."""
        found = [manifest for manifest in self._waiting.values() if manifest.pod.metadata.uid == uid]
        if found and uid not in self.by_uid and not self.draining:
            del self._waiting[found[0].pod.full_name]
            self._add(found[0])

    # The end.

    async def drain(self, grace_seconds: int | None = None, *, at_once: bool = False) -> list[str]:
        """Ends every pod, all at the same time, each within its own grace or ``grace_seconds``, or ``at_once``.

        Returns the names of the pods that have not ended in that time and some slack; the slack begins anew while other
        pods end. Pods remain if the runtime is gone, or does not carry out a call that it answers. A second call may
        shorten the grace meanwhile.
        """
        self.draining = True
        self._waiting.clear()
        end = Terminate(grace_seconds, at_once)
        limit = 0
        for pod in list(self.by_uid.values()):
            limit = max(limit, pod.end(end))
        left, wait_ns = len(self.by_uid), limit * SECOND + DRAIN_SLACK_NS
        while not await self._empty_within(wait_ns) and len(self.by_uid) < left:
            left, wait_ns = len(self.by_uid), DRAIN_SLACK_NS
        return [pod.pod.full_name for pod in self.by_uid.values()]

    async def _empty_within(self, wait_ns: int) -> bool:
        empty = asyncio.ensure_future(self._empty.wait())
        try:
            return await self._host.timers.done_within(wait_ns, empty)
        finally:
            empty.cancel()
