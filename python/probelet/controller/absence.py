"""Carries out ``agent.unreadyAfter``: closes the gates of taken-over pods on nodes whose agent has been silent.

The Leases of the agents are mirrored, and the taken-over pods followed, only while the setting is on.
"""

import asyncio
from typing import Final, NoReturn

import structlog

from probelet.base.exposition.timestamp import rfc3339
from probelet.beside.takeover.absence import Absence, Close
from probelet.beside.takeover.lease import AgentLease, agent_lease
from probelet.beside.takeover.names import CONDITION, FIELD_MANAGER
from probelet.beside.takeover.taken_pod import TakenPod
from probelet.controller.alarm import Alarm
from probelet.controller.metrics import ControllerMetrics
from probelet.controller.pod_mirror import Follower, PodMirror
from probelet.host.tasks import Tasks
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection, Object
from probelet.kube.error import Conflict, KubeError, NotFound
from probelet.kube.events.writer import EventWriter, Regarding
from probelet.kube.kinds import LEASES, PODS
from probelet.kube.reflector import Reflector
from probelet.spec.text.duration import MILLISECOND, SECOND, format_duration

REASON: Final = "AgentAbsent"
"""The reason of a condition that the controller wrote."""

WRITES_MAX: Final = 8
"""Most writes at once: a node's pods all change together, and the API server is not flooded."""

log = structlog.get_logger("probelet.controller")


class AbsenceReconciler:
    """The setting of one leadership."""

    def __init__(
        self,
        connection: Connection,
        namespace: str,
        clock: Clock,
        events: EventWriter,
        metrics: ControllerMetrics,
        tasks: Tasks,
        pods: PodMirror,
    ) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock
        self._events = events
        self._metrics = metrics
        self._tasks = tasks
        self._pods = pods
        self._turns = asyncio.Semaphore(WRITES_MAX)
        self._after_ns: int | None = None
        self._changed = asyncio.Event()
        self._leads = False
        self._alarm: Alarm | None = None

    def begin(self) -> None:
        """This process leads from now on. It has followed the Leases before, so it knows which agents are silent."""
        self._leads = True
        if self._alarm is not None:
            self._alarm.rearm()

    def configure(self, after_ns: int | None) -> None:
        """Uses this setting from now on; None switches it off."""
        if after_ns != self._after_ns:
            self._after_ns = after_ns
            self._changed.set()

    async def run(self) -> NoReturn:
        """Follows the setting until the task is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                after_ns = self._after_ns
                following = None if after_ns is None else group.create_task(self._follow(after_ns))
                await self._changed.wait()
                if following is not None:
                    following.cancel()
                    await asyncio.wait([following])
        raise AssertionError("the setting is followed until cancellation")

    async def _follow(self, after_ns: int) -> None:
        absence = Absence(after_ns)
        alarm = self._alarm = Alarm(
            self._clock,
            lambda now: absence.deadline(now) if self._leads else None,
            lambda: self._close(absence, alarm),
        )

        def synced() -> None:
            absence.synced(self._pods.has_taken and leases.connected, self._clock.now())
            alarm.rearm()

        def pod_changed(before: TakenPod | None, now: TakenPod | None) -> None:
            absence.pod((now or before).uid, now, self._clock.now())  # type: ignore[union-attr]
            alarm.rearm()

        def lease_changed(before: AgentLease | None, now: AgentLease | None) -> None:
            if now is not None:
                absence.renewed(now.node, self._clock.now())
            elif before is not None:
                absence.unknown(before.node)

        leases = Reflector(
            self._connection,
            LEASES,
            agent_lease,
            clock=self._clock,
            on_change=lease_changed,
            on_connected=lambda _: synced(),
            namespace=self._namespace,
        )
        self._pods.follow(Follower(pod_changed, synced))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(leases.run())
                group.create_task(alarm.run())
        finally:
            self._alarm = None
            self._pods.follow(None)

    def _close(self, absence: Absence, alarm: Alarm) -> None:
        closes = absence.due(self._clock.now())
        for close in closes:
            self._tasks.spawn(self._write(absence, alarm, close))
        counts: dict[str, list[Close]] = {}
        for close in closes:
            counts.setdefault(close.pod.node, []).append(close)
        for node, of_node in counts.items():
            text = f"{_silence(node, of_node[0])}; pods that become unready: {len(of_node)}"
            log.warning("no agent", node=node, why=text)
            # A node's events have its name as UID, as the kubelet's.
            self._events.record(Regarding("v1", "Node", "", node, node), "Warning", REASON, text)

    async def _write(self, absence: Absence, alarm: Alarm, close: Close) -> None:
        pod = close.pod
        async with self._turns:
            try:
                await self._connection.apply(PODS, self._closed(close), subresource="status", manager=FIELD_MANAGER)
                outcome = "done"
            except (Conflict, NotFound):
                outcome = "gone"
            except KubeError as error:
                outcome = "failed"
                log.warning("a pod does not become unready", pod=f"{pod.namespace}/{pod.name}", problem=str(error))
        self._metrics.wrote("pods", "unready", outcome)
        absence.wrote(pod.uid, outcome != "failed", self._clock.now())
        alarm.rearm()

    def _closed(self, close: Close) -> Object:
        pod = close.pod
        # As the agent's field manager: what the agent applies when it is back replaces reason and message, too.
        return {
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "status": {
                "conditions": [
                    {
                        "type": CONDITION,
                        "status": "False",
                        "reason": REASON,
                        "message": f"{_silence(pod.node, close)}, so the probes of this pod are not made",
                        # metav1.Time has whole seconds.
                        "lastTransitionTime": rfc3339(self._clock.wall_ns() // MILLISECOND)[:19] + "Z",
                    }
                ]
            },
        }


def _silence(node: str, close: Close) -> str:
    whole = close.silent_ns // SECOND * SECOND
    return f"the agent of node {node} has not renewed its Lease for {format_duration(whole)}"
