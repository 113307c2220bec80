"""All taken-over pods of the node."""

from collections.abc import Callable
from functools import partial

import structlog

from probelet.agent.pod.agent_pod import AgentParts, AgentPod
from probelet.agent.source.pod_source import PROBES_IGNORED
from probelet.agent.state.records import FirstSeen
from probelet.beside.pods.api_pod import ApiPod
from probelet.beside.takeover.reading import read

log = structlog.get_logger("probelet.agent")


class AgentPods:
    """The pods by UID. Until ``begin`` the engine gets no facts: what runs and what exists is not known yet.

    ``on_over`` is called with the UID of a pod of which nothing is left.
    """

    def __init__(self, parts: AgentParts, own_namespace: str, on_over: Callable[[str], None]) -> None:
        self.by_uid: dict[str, AgentPod] = {}
        self._parts = parts
        self._own_namespace = own_namespace
        self._on_over = on_over
        self._has_begun = False

    def close_gates(self) -> None:
        """Closes the gates of pods with an instance that no earlier agent has found ready."""
        for pod in self.by_uid.values():
            pod.close_gate()

    def begin(self) -> None:
        """The runtime has been listed, and the API server too unless it is away: probing begins."""
        self._has_begun = True
        self.observe_all()

    def add(self, first: FirstSeen, *, is_new: bool) -> None:
        """A pod that was not there; ``is_new``: no agent of this node has seen it before."""
        assert first.annotation is not None, "only a taken-over pod is added"
        assert first.pod is not None, "its file has its definition"
        reading = read(first.annotation, first.pod, own_namespace=self._own_namespace)
        pod = self.by_uid[first.uid] = AgentPod(first, reading, self._parts, self._over)
        probes = sum(len(types) for types in reading.probes.values())
        log.info("pod added", pod=pod.full_name, uid=pod.uid, probes=probes)
        for problem in pod.problems if is_new else ():
            self._parts.host.recorder.record(pod.uid, pod.full_name, "Warning", PROBES_IGNORED, problem)
        # The last list of the runtime left the pod out.
        self._parts.host.pleg.when_listed(partial(self._listed, pod))

    def change(self, first: FirstSeen) -> tuple[str, ...]:
        """Gives a pod that is there other probes; returns the mistakes for which it keeps its own."""
        pod = self.by_uid.get(first.uid)
        if pod is None or first.annotation is None or first.pod is None:
            return ()
        mistakes = pod.change(first.pod, read(first.annotation, first.pod, own_namespace=self._own_namespace))
        self.observe(first.uid)
        return mistakes

    def update(self, api: ApiPod) -> None:
        """The API server's version of a pod that is there."""
        if pod := self.by_uid.get(api.uid):
            pod.update(api)
            self.observe(api.uid)

    def gone(self, uid: str) -> None:
        """The API server no longer has the pod."""
        if pod := self.by_uid.get(uid):
            pod.update(None)
            self.observe(uid)

    def observe(self, uid: str) -> None:
        """The cache has news of this pod."""
        if self._has_begun and (pod := self.by_uid.get(uid)):
            pod.observe()

    def observe_all(self) -> None:
        """Everything may have changed: the connection to the API server came or went."""
        if self._has_begun:
            for pod in list(self.by_uid.values()):
                pod.observe()

    def has_started(self, uid: str, container: str, container_id: str) -> bool:
        """Whether the startup probe that was taken over of a container has passed; True where there is none."""
        pod = self.by_uid.get(uid)
        return pod is None or pod.has_started(container, container_id)

    def made_startups(self, uid: str) -> frozenset[str]:
        """The containers of a pod whose native startup probe the webhook made."""
        pod = self.by_uid.get(uid)
        return frozenset() if pod is None else pod.made_startups

    def _listed(self, pod: AgentPod) -> None:
        pod.is_listed = True
        self.observe(pod.uid)

    def _over(self, pod: AgentPod) -> None:
        del self.by_uid[pod.uid]
        self._on_over(pod.uid)
