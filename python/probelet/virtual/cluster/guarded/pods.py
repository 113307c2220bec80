"""The pods of a virtual cluster as ContainerRecreateRequests meet them."""

from collections.abc import Callable, Mapping

from probelet.beside.guard.names import FAILURE, PROBE
from probelet.beside.guard.objects.recreate_request import RecreateRequest
from probelet.beside.guard.objects.requested_pod import RequestedPod
from probelet.beside.guard.recreate.messages import stopping
from probelet.beside.guard.restart.protocol.inputs import RequestKey
from probelet.policy.facts.snapshot import Snapshot
from probelet.policy.rules.grace import Grace
from probelet.spec.rules.defaults import TERMINATION_GRACE_PERIOD_SECONDS
from probelet.spec.text.duration import SECOND
from probelet.virtual.cluster.guarded.kill import RequestKill
from probelet.virtual.cluster.guarded.objects import requested_pod
from probelet.virtual.cluster.record import Kill
from probelet.virtual.cluster.state import ClusterState


class RestartedPods:
    """``RequestedPods`` of a world. ``annotations`` returns those of a request."""

    runtime = "virtual"

    def __init__(self, world: ClusterState, annotations: Callable[[RequestKey], Mapping[str, str]]) -> None:
        self._world = world
        self._annotations = annotations

    def is_up(self, node: str) -> bool:
        """Whether the agent of a node works and reaches the API server."""
        return not self._world.node_by_name[node].is_down and not self._world.is_cut_off(node)

    def of_api(self, request: RecreateRequest) -> RequestedPod | None:
        """The pod as the API server has it. A pod of another UID is another one, although it has the name."""
        pod = self._world.pods.get(request.pod_uid)
        return None if pod is None or pod.is_gone else requested_pod(pod)

    def snapshot(self, uid: str) -> Snapshot | None:
        """None also while the pod terminates: its kubelet kills the containers, and the manager ends the request."""
        pod = self._world.pods[uid]
        return None if pod.is_gone or pod.is_terminating or not self.is_up(pod.node) else pod.runtime.snapshot

    def stop(self, request: RecreateRequest, container: str, id: str, on_end: Callable[[], None]) -> None:
        """Stops an instance. A kill that a failed probe has led to is recorded as such."""
        world, pod = self._world, self._world.pods[request.pod_uid]
        seconds = request.strategy.termination_grace_period_seconds
        if seconds is None:
            seconds = pod.pod.spec.termination_grace_period_seconds
        grace = Grace(TERMINATION_GRACE_PERIOD_SECONDS if seconds is None else seconds, "pod")
        annotations = self._annotations((request.namespace, request.name))
        if PROBE in annotations:
            kill = Kill(world.now / SECOND, pod.name, container, "liveness", annotations.get(FAILURE, ""))
            pod.kills.append(kill)
            world.writer.kill(kill)
        RequestKill(world, pod, container, id, grace, stopping(container, request.name), on_end)
