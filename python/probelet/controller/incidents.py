"""Looks for incidents among the states of all nodes, with the detector of ``run`` and ``agent``.

A controller that stands by looks too, and writes nothing: it knows what is open when it begins to lead.
"""

from typing import Final, NoReturn

from probelet.beside.incidents.cluster import Change, ClusterIncidents
from probelet.beside.incidents.noticed import Ended, Forgotten, Known, Noticed, Restarting
from probelet.controller.deadlines import ClockDeadlines
from probelet.host.incidents.events import IncidentEvents
from probelet.host.incidents.node_events import node_record
from probelet.host.incidents.watch import IncidentWatch
from probelet.kube.clock import Clock
from probelet.kube.events.correlator import EventType
from probelet.kube.events.writer import EventWriter, Regarding
from probelet.policy.incidents.subjects import CommandReader
from probelet.spec.text.duration import MILLISECOND, SECOND

CLUSTER: Final = "cluster"
"""The place of the documents in which other services have the name of their node."""

BEAT_NS: Final = 10 * SECOND
"""The time of a beat of a node."""


class IncidentReconciler:
    """The incidents of one leadership."""

    def __init__(self, clock: Clock, events: EventWriter, read_command: CommandReader, heartbeat_ns: int) -> None:
        self._clock = clock
        self._events = events
        self._deadlines = ClockDeadlines(clock)
        self._leads = False
        self.cluster = ClusterIncidents(read_command, heartbeat_ns // MILLISECOND)
        self.watch = IncidentWatch(self._deadlines, CLUSTER)
        self.watch.listeners.append(IncidentEvents(self.watch, self._on_pod, self._on_node))
        self.watch.begin()
        self._write_on_node = node_record(events)
        self._timer: int | None = None

    def begin(self) -> None:
        """This process leads from now on."""
        self._leads = True

    async def run(self) -> NoReturn:
        """Lets time pass until the task is cancelled."""
        await self._deadlines.alarm.run()

    async def beat(self) -> NoReturn:
        """Ends beats until the task is cancelled."""
        while True:
            await self._clock.sleep(BEAT_NS)
            for noticed in self.cluster.beat(self._now()):
                self._tell(noticed)

    def handle(self, change: Change) -> None:
        """Takes a change of the cluster."""
        for noticed in self.cluster.handle(self._now(), change):
            self._tell(noticed)
        self._arm()

    def metrics(self) -> bytes:
        """The series of incidents: of the leader alone, because all controllers see the same."""
        return self.watch.metrics() if self._leads else b""

    def _now(self) -> int:
        return self._clock.wall_ns() // MILLISECOND

    def _arm(self) -> None:
        due_ms = self.cluster.next_deadline_ms
        if self._timer is None and due_ms is not None:
            wait_ns = max(0, due_ms - self._now()) * MILLISECOND
            self._timer = self._deadlines.arm(self._deadlines.now() + wait_ns, self._pass)

    def _pass(self) -> None:
        self._timer = None
        for noticed in self.cluster.passed(self._now()):
            self._tell(noticed)
        self._arm()

    def _tell(self, noticed: Noticed) -> None:
        match noticed:
            case Known(subjects, revision):
                self.watch.know(subjects, revision)
            case Forgotten(uid):
                self.watch.forget(uid)
            case Ended(turns):
                self.watch.take_turns(turns)
            case Restarting(uid, container):
                self.watch.killed(uid, container)

    def _on_pod(self, uid: str, pod: str, type: EventType, reason: str, message: str) -> None:
        if self._leads:
            namespace, _, name = pod.partition("/")
            self._events.record(Regarding("v1", "Pod", namespace, name, uid), type, reason, message)

    def _on_node(self, node: str, type: EventType, reason: str, message: str) -> None:
        if self._leads:
            self._write_on_node(node, type, reason, message)
