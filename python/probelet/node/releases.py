"""Starts containers in back-off when a probe that they name turns healthy (``releaseOnDependency``)."""

from collections.abc import Mapping

import structlog

from probelet._rust import Update
from probelet.node.pod import NodePod
from probelet.spec.annotation.release_on import Dependency, dependencies
from probelet.spec.model.pod import Pod

log = structlog.get_logger("probelet.node")


class Releases:
    """Which containers wait for which probe. ``pods`` are the node's, by UID."""

    def __init__(self, pods: Mapping[str, NodePod]) -> None:
        self._pods = pods
        # The dependencies of each pod's containers, by the pod's UID, with the pod that they were read from.
        self._wanted: dict[str, tuple[Pod, dict[str, Dependency]]] = {}

    def handle(self, update: Update) -> None:
        """A result changed: Success of a probe, also its first one, starts the containers that wait for it."""
        source = self._pods.get(update.pod_uid)
        if update.result != "Success" or source is None:
            return
        name = source.container_of(update.container_id)
        healthy = Dependency(source.full_name, name, update.probe_type)
        for uid, pod in list(self._pods.items()):
            names = [container for container, wanted in self._of(uid, pod).items() if wanted == healthy]
            if names and (released := pod.release(names)):
                log.info("released from back-off", pod=pod.full_name, containers=released, dependency="/".join(healthy))

    def forget(self, uid: str) -> None:
        """Drops the entries of a pod that has ended."""
        self._wanted.pop(uid, None)

    def _of(self, uid: str, pod: NodePod) -> dict[str, Dependency]:
        known, wanted = self._wanted.get(uid, (None, {}))
        if known is not pod.pod:
            wanted, _ = dependencies(pod.pod)
            self._wanted[uid] = pod.pod, wanted
        return wanted
