"""Keeps the engine informed of the network namespaces of pods whose probes ask to be made from inside them."""

from collections.abc import Iterator
from typing import Final, Protocol

import structlog

from probelet.host.tasks import Tasks
from probelet.policy.facts.snapshot import Snapshot
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.cri.errors import CriError
from probelet.runtime.networks.place import ClosedNetworkError, network_place
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe_options import ProbeOptions, options_of

NO_FILE: Final = "its namespace is not to be found"

log = structlog.get_logger("probelet.network")


class NetworkEngine(Protocol):
    """The part of ``Engine`` that enters networks."""

    def enter_network(self, uid: str, path: str) -> bool: ...
    def share_network(self, uid: str) -> None: ...
    def close_network(self, uid: str, why: str) -> None: ...
    def leave_network(self, uid: str) -> None: ...


class Snapshots(Protocol):
    """The part of ``PodCache`` that knows the sandboxes of pods."""

    def snapshot(self, uid: str) -> Snapshot: ...


class PodNetworks:
    """One for all pods of a runtime."""

    def __init__(self, client: RuntimeClient, engine: NetworkEngine, tasks: Tasks, cache: Snapshots) -> None:
        self._client = client
        self._engine = engine
        self._cache = cache
        self._tasks = tasks
        self._sandboxes: dict[str, str] = {}
        """The sandbox of which the engine knows or will soon, by pod."""

    def follow(self, pod: Pod) -> None:
        """The runtime has news of a pod. A new sandbox has a new network."""
        # Nearly no pod asks, so this comes before everything that costs more.
        if not any(_asking(pod)):
            return
        uid = pod.metadata.uid
        newest = next(iter(self._cache.snapshot(uid).sandboxes), None)
        if newest is None or not newest.ready or self._sandboxes.get(uid) == newest.id:
            return
        self._sandboxes[uid] = newest.id
        if pod.spec.host_network:
            self._engine.share_network(uid)
        else:
            self._tasks.spawn(self._enter(pod, newest.id))

    def forget(self, uid: str) -> None:
        """Nothing of the pod is left."""
        if self._sandboxes.pop(uid, None) is not None:
            self._engine.leave_network(uid)

    async def _enter(self, pod: Pod, sandbox_id: str) -> None:
        uid = pod.metadata.uid
        try:
            answer = await self._client.pod_sandbox_status(sandbox_id, verbose=True)
            place = network_place(sandbox_id, answer.info.get("info", ""))
        except (CriError, ClosedNetworkError) as error:
            self._close(pod, sandbox_id, str(error))
            return
        if self._sandboxes.get(uid) != sandbox_id:
            return
        if place.is_shared:
            self._engine.share_network(uid)
            return
        failed = []
        for path in place.candidates():
            try:
                self._engine.enter_network(uid, path)
            except OSError as error:
                failed.append(f"{path}: {error}")
            else:
                log.debug("network entered", pod=pod.full_name, path=path)
                return
        self._close(pod, sandbox_id, "; ".join(failed) or NO_FILE)

    def _close(self, pod: Pod, sandbox_id: str, why: str) -> None:
        uid = pod.metadata.uid
        if self._sandboxes.get(uid) != sandbox_id:
            return
        self._engine.close_network(uid, why)
        fallbacks = sorted({options.network_fallback or "error" for options in _asking(pod)})
        log.warning("pod's network cannot be entered", pod=pod.full_name, why=why, network_fallback=fallbacks)


def _asking(pod: Pod) -> Iterator[ProbeOptions]:
    """The options of the probes that ask to be made from inside the pod."""
    for _, probe in pod.spec.each_probe():
        options = options_of(probe)
        if options.network is not None:
            yield options
