"""A cluster of nodes with pods of enhanced liveness, whose states a test publishes, before the real detector."""

from collections.abc import Callable, Sequence
from itertools import count

from probelet.beside.guard.objects.node import GuardedNode
from probelet.beside.guard.objects.node_probes import NodeProbes, PodProbes, ProbeState
from probelet.beside.guard.objects.owner import Owner
from probelet.beside.guard.objects.pod import GuardedContainer, GuardedPod
from probelet.beside.guard.objects.recreate_request import RecreateRequest, WantedContainer
from probelet.beside.guard.restart.protocol.inputs import NodeChanged, PodChanged, ProbesChanged, RequestChanged
from probelet.beside.incidents.cluster import Change, ClusterIncidents
from probelet.beside.incidents.noticed import Ended, Forgotten, Known, Noticed, Restarting
from probelet.daemon.asked_hosts import asked_hosts
from probelet.host.incidents.watch import IncidentWatch
from probelet.policy.incidents import Incident

SECOND = 1_000_000_000
PERIOD = 10
HEARTBEAT = 180


class Deadlines:
    """A clock that the test puts forward."""

    def __init__(self) -> None:
        self.ns = 1_795_000_000 * SECOND
        self._tokens = count(1)
        self._armed: dict[int, tuple[int, Callable[[], None]]] = {}

    def now(self) -> int:
        return self.ns

    def wall_ns(self) -> int:
        return self.ns

    def arm(self, deadline_ns: int, fire: Callable[[], None]) -> int:
        token = next(self._tokens)
        self._armed[token] = (deadline_ns, fire)
        return token

    def cancel(self, token: int) -> None:
        self._armed.pop(token, None)

    def advance(self, ns: int) -> None:
        self.ns += ns
        for token, (deadline, fire) in [*self._armed.items()]:
            if deadline <= self.ns and self._armed.pop(token, None) is not None:
                fire()


class Cluster:
    """Pods are ``app-0``, the first one of ``Deployment/app``."""

    def __init__(self) -> None:
        self.clock = Deadlines()
        self.incidents = ClusterIncidents(asked_hosts, HEARTBEAT * 1_000)
        self.watch = IncidentWatch(self.clock, "cluster")
        self.watch.begin()
        self.noticed: list[Noticed] = []
        self.pods: dict[str, GuardedPod] = {}
        self.states: dict[str, ProbeState] = {}

    # Objects.

    def add(
        self,
        app: str,
        nodes: Sequence[str],
        *,
        asks: str = "",
        revision: str = "1",
        image: str = "",
        first: int = 0,
        context: str = "",
    ) -> list[str]:
        """A pod on each of these nodes, with a probe that is well; returns their names."""
        names = [f"{app}-{number}" for number in range(first, first + len(nodes))]
        for name, node in zip(names, nodes, strict=True):
            pod = GuardedPod(
                namespace="default",
                name=name,
                uid=name,
                is_opted_in=True,
                context=context,
                node=node,
                labels={"pod-template-hash": revision},
                owner=Owner("apps/v1", "ReplicaSet", f"{app}-{revision}", app),
                containers=(GuardedContainer("app", image or app),),
                depends_on=asks,
            )
            self.put(pod)
            self.states[name] = ProbeState(f"{name}-app", "app", "Succeeded", period_seconds=PERIOD)
        self.publish(*nodes)
        return names

    def put(self, pod: GuardedPod) -> None:
        self.pods[pod.uid] = pod
        self.give(PodChanged(pod.uid, pod))

    def remove(self, name: str) -> None:
        pod = self.pods.pop(name)
        self.give(PodChanged(name, None))
        self.publish(pod.node)

    def ready(self, node: str, is_ready: bool) -> None:
        self.give(NodeChanged(node, GuardedNode(node, is_ready)))

    def request(self, pod: str) -> None:
        """The decision restarts the container of a pod."""
        containers = (WantedContainer(name="app"),)
        made = RecreateRequest(
            namespace="default", name=f"{pod}-1", uid="r", is_ours=True, pod_uid=pod, containers=containers
        )
        self.give(RequestChanged(("default", f"{pod}-1"), made))

    # States.

    def publish(self, *nodes: str) -> None:
        """These nodes write what their probes are like."""
        for node in dict.fromkeys(nodes):
            pods = {
                pod.uid: PodProbes("default", pod.name, pod.uid, (self.states[pod.uid],))
                for pod in self.pods.values()
                if pod.node == node
            }
            self.give(ProbesChanged(node, NodeProbes(node, pods)))

    def fail(self, *names: str, cause: str = "header_timeout", failed: bool = True) -> None:
        """The probes of these pods are Failed, or their last attempt failed; their nodes write that."""
        for name in names:
            state = "Failed" if failed else "Succeeded"
            self._state(name, state, is_failing=True, cause=cause)
        self.publish(*(self.pods[name].node for name in names))

    def recover(self, *names: str) -> None:
        for name in names:
            self._state(name, "Succeeded", is_failing=False, cause="")
        self.publish(*(self.pods[name].node for name in names))

    def _state(self, name: str, state: str, *, is_failing: bool, cause: str) -> None:
        before = self.states[name]
        since = before.since_ns if before.state == state else self.clock.ns
        self.states[name] = ProbeState(
            before.name,
            "app",
            state,  # type: ignore[arg-type]
            probed_ns=self.clock.ns,
            since_ns=since,
            is_failing=is_failing,
            cause=cause,
            period_seconds=PERIOD,
        )

    # The detector, and time.

    def give(self, change: Change) -> None:
        self._tell(self.incidents.handle(self.clock.ns // 1_000_000, change))

    def wait(self, seconds: float) -> None:
        for step in range(round(seconds)):
            self.clock.advance(SECOND)
            self._tell(self.incidents.passed(self.clock.ns // 1_000_000))
            if step % 10 == 9:
                self._tell(self.incidents.beat(self.clock.ns // 1_000_000))

    def _tell(self, found: list[Noticed]) -> None:
        self.noticed += found
        for noticed in found:
            match noticed:
                case Known(subjects, revision):
                    self.watch.know(subjects, revision)
                case Forgotten(uid):
                    self.watch.forget(uid)
                case Ended(turns):
                    self.watch.take_turns(turns)
                case Restarting(uid, container):
                    self.watch.killed(uid, container)

    @property
    def open(self) -> list[Incident]:
        return self.watch.open
