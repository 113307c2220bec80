"""Restarts containers for their age (``maxContainerAge``): every few seconds it passes the pods to ``ContainerAge``."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from probelet._rust import TokenBucket
from probelet.host.engine_host import EngineHost
from probelet.node.pod import NodePod
from probelet.policy.glue.status_layer import ready_of
from probelet.policy.node.container_age import AgingContainer, AgingPod, ContainerAge, group_of, reached_age
from probelet.policy.node.restart_gate import RestartGate
from probelet.policy.rules.kind import containers
from probelet.policy.rules.restart import restart_spec

LOOK_NS: Final = 10_000_000_000
"""The longest time between two looks at the pods, short beside any age that makes sense on a node."""
LOOKS_PER_AGE: Final = 32
"""The node looks at the pods at least this often within the age, because a trial uses short ages."""
OWN_BURST: Final = 10
"""Restarts for age at once where no ``restartBudget`` is set."""
OWN_REFILL_NS: Final = 60_000_000_000
"""After those, one restart for age per this time: a regular restart is not urgent."""
LOOK_NS_MIN: Final = 100_000_000
"""The shortest time between two looks: a look costs a few microseconds a pod, and ten a second suffice for any age."""


class Aging:
    """``pods`` are the node's, by UID. Restarts for age use the gate's budget, or their own if the gate has none."""

    def __init__(self, host: EngineHost, max_age_ns: int, gate: RestartGate, pods: Mapping[str, NodePod]) -> None:
        own = TokenBucket(burst=OWN_BURST, interval_ns=OWN_REFILL_NS)
        self.policy = ContainerAge(max_age_ns, own if gate.options.budget is None else gate)
        self._engine = host.engine
        self._timers = host.timers
        self._pods = pods

    async def run(self) -> None:
        """Looks at the pods for ever."""
        pause = max(min(self.policy.max_age_ns // LOOKS_PER_AGE, LOOK_NS), LOOK_NS_MIN)
        while True:
            await self._timers.sleep(pause)
            self.sync()

    def sync(self) -> None:
        """Restarts the containers whose turn it is now."""
        shown = [self._shown(pod) for pod in self._pods.values()]
        for restart in self.policy.decide(self._timers.now(), self._engine.wall_ms(), shown):
            message = reached_age(restart.name, restart.age_ns, self.policy.max_age_ns)
            self._pods[restart.uid].restart(restart.container_id, message)

    def _shown(self, pod: NodePod) -> AgingPod:
        """Returns the pod as its last sync published it, so that a restart is over only when a sync has seen it. A pod
        that ends has no container to restart."""
        running = () if pod.removing else tuple(_aging_containers(pod))
        return AgingPod(pod.uid, group_of(pod.pod), running, self._ready(pod))

    def _ready(self, pod: NodePod) -> Callable[[], bool]:
        return lambda: ready_of(self._engine, pod.pod).ready


def _aging_containers(pod: NodePod) -> Iterator[AgingContainer]:
    for kind, container in containers(pod.pod):
        status = pod.statuses.get(container.name)
        always = kind == "sidecar" or (kind == "regular" and restart_spec(pod.pod, container).policy == "Always")
        if always and status is not None and status.state == "running":
            yield AgingContainer(container.name, status.container_id, status.started_at_ms)
