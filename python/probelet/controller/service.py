"""The controller: mirrors, mapping and restart decision.

Law: a process that stands by reads everything that the leader reads, and decides and writes nothing. So a change of
leader costs the time until the Lease is free and no list: in a large cluster the lists alone take minutes. What a
leadership knew ends with it; the process that lost the Lease begins to stand by like a new one.
"""

import asyncio
from collections.abc import Callable
from typing import Final, NoReturn

import msgspec
import structlog
from msgspec.structs import replace

from probelet.beside.guard.mapping.merge import MergeOptions
from probelet.beside.guard.mapping.protocol import Configured as MappingConfigured
from probelet.beside.guard.mapping.protocol import Resync
from probelet.beside.guard.restart.protocol import inputs
from probelet.beside.guard.restart.protocol.inputs import Configured, IncidentChanged, WallClock
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions
from probelet.controller.absence import AbsenceReconciler
from probelet.controller.incidents import IncidentReconciler
from probelet.controller.mapping import MappingReconciler
from probelet.controller.metrics import ControllerMetrics
from probelet.controller.mirrors import Handlers, Mirrors
from probelet.controller.requests import RequestReconciler
from probelet.controller.restarts import RestartReconciler
from probelet.controller.settings import Settings
from probelet.host.tasks import Tasks
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection
from probelet.kube.events.writer import EventWriter, Regarding
from probelet.kube.lease.leader import LeaderElection
from probelet.kube.waiting import ended
from probelet.policy.incidents import Ended, Reclassified
from probelet.policy.incidents import Output as IncidentOutput
from probelet.policy.incidents.subjects import CommandReader

log = structlog.get_logger("probelet.controller")

LEASE: Final = "probelet-controller"
"""The Lease of the leader, in the controller's namespace; RBAC names it."""
COMPONENT: Final = "probelet-controller"
"""The component of the controller's events."""
RESYNC_NS: Final = 600_000_000_000
"""How often every NodePodProbe is compared without a change (M-2)."""
FREE_NS: Final = 2_000_000_000
"""How often the leader looks for pods that a request keeps out of service which is gone."""
CLOCK_NS: Final = 60_000_000_000
"""How often the decision gets the wall clock, which somebody may have set."""


class ControllerOptions(msgspec.Struct, frozen=True):
    """``namespace`` has the lease and the ConfigMap ``config_map``; ``holder`` is this process among all candidates."""

    namespace: str
    config_map: str
    holder: str
    host: str
    merge: MergeOptions
    guard: GuardOptions
    manages_requests: bool = True
    """Whether requests are managed here, and not by OpenKruise's manager."""
    read_command: CommandReader = lambda container, command: ()


class ControllerService:
    """One of several controllers; each reads the cluster, and only the leader decides."""

    def __init__(self, connection: Connection, options: ControllerOptions, clock: Clock) -> None:
        self._connection = connection
        self._options = options
        self._clock = clock
        self._metrics = ControllerMetrics()
        self._events = EventWriter(connection, COMPONENT, options.host, clock)
        self._settings = Settings(f"{options.namespace}/{options.config_map}")
        self._election = LeaderElection(
            connection, LEASE, options.namespace, options.holder, clock, on_answer=self._server_answers
        )
        self._standby: Leadership | None = None
        """The leadership that begins when this process leads; also the one that has begun."""
        self._leading: Leadership | None = None

    async def run(self) -> NoReturn:
        """Leads whenever it can, until the task is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._events.run())
            group.create_task(self._stand_by())
            await self._election.run(self._lead)
        raise AssertionError("the leader ends only by cancellation")

    @property
    def why_not_ready(self) -> str | None:
        """Why this process would not decide, or could not take over at once, in one line; None if it could."""
        if why := self._settings.why_not_ready or self.why_not_known:
            return why
        return None if self._election.has_leader else self.why_not_leading

    def render_metrics(self) -> bytes:
        """The metric page."""
        self._metrics.is_leader = self._leading is not None
        self._metrics.is_configured = not self._settings.mistakes
        leading = self._leading
        if leading is None:
            return self._metrics.render(None)
        return self._metrics.render(leading.restarts.gauges()) + leading.incidents.metrics()

    @property
    def why_not_known(self) -> str | None:
        """Which objects are not read yet or out of reach, in one line; None if all are known and current."""
        if self._standby is None:
            return "not read from the API server yet: everything"
        return self._standby.mirrors.why_not_synced

    @property
    def candidate(self) -> "Leadership | None":
        """The leadership that this process has or waits for; None before the first one."""
        return self._standby

    @property
    def why_not_leading(self) -> str | None:
        """Why this process decides and writes nothing, in one line; None if it leads."""
        if self._leading is not None:
            return None
        lease = f"the Lease {self._options.namespace}/{LEASE}"
        if not self._election.has_leader:
            return f"no controller leads: nobody renews {lease}"
        return f"this controller stands by, and another one holds {lease}"

    def _server_answers(self) -> None:
        if self._standby is not None:
            self._standby.mirrors.hurry()

    async def _stand_by(self) -> NoReturn:
        while True:
            # Everything is new for each leadership: what another leader has done meanwhile is read from its objects.
            made = Leadership(self._connection, self._options, self._clock, self._events, self._metrics, self._settings)
            self._standby = made
            running = asyncio.ensure_future(made.run())
            try:
                await asyncio.wait((running, made.over), return_when=asyncio.FIRST_COMPLETED)
            finally:
                # No write outlives the leadership.
                await ended(running)
                made.has_ended.set()
            if not running.cancelled():
                running.result()

    async def _lead(self) -> None:
        leading = self._standby
        assert leading is not None, "it is made before the first answer about the Lease"
        self._leading = leading
        leading.begin()
        try:
            # Until the Lease is lost. An error of the leadership ends the process.
            await asyncio.get_running_loop().create_future()
        finally:
            self._leading = None
            leading.over.set_result(None)
            await leading.has_ended.wait()


class Leadership:
    """One leadership: ``run`` reads, and decides and writes from ``begin`` on, until ``over``."""

    def __init__(
        self,
        connection: Connection,
        options: ControllerOptions,
        clock: Clock,
        events: EventWriter,
        metrics: ControllerMetrics,
        settings: Settings,
    ) -> None:
        self._options = options
        self._clock = clock
        self._events = events
        self._settings = settings
        self._tasks = Tasks()
        self._leads = False
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the Lease is lost."""
        self.has_ended = asyncio.Event()
        self._mapping = MappingReconciler(connection, options.merge, clock, events, metrics, self._tasks)
        self.incidents = IncidentReconciler(clock, events, options.read_command, options.guard.heartbeat_ns)
        self.restarts = RestartReconciler(
            connection, options.guard, clock, events, metrics, self._tasks, self.incidents.watch.striking
        )
        self.incidents.watch.listeners.append(self._incident_changed)
        self._free: Callable[[], None] = lambda: None
        handlers = Handlers(self._mapping.handle, self._changed, self._configure)
        self._requests: RequestReconciler | None = None
        if options.manages_requests:
            self._requests = requests = RequestReconciler(connection, clock, metrics, self._tasks)
            handlers = replace(handlers, requests=requests.changed, pods=requests.pod_changed)
            handlers = replace(handlers, out=requests.pod_is_out)
            self._free = requests.free
        self.mirrors = Mirrors(connection, clock, handlers, options.guard.naming, options.namespace, options.config_map)
        self._absence = AbsenceReconciler(
            connection, options.namespace, clock, events, metrics, self._tasks, self.mirrors.pods
        )

    def begin(self) -> None:
        """This process leads from now on."""
        self._leads = True
        self._report_mistakes()
        self.restarts.begin()
        self.incidents.begin()
        if self._requests is not None:
            self._requests.begin()
        self._absence.begin()
        self.mirrors.begin()

    async def run(self) -> None:
        """Reads, and once it leads decides and writes, until the task is cancelled."""
        self._set_clock()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._tasks.failure())
                group.create_task(self._mapping.alarm.run())
                group.create_task(self.restarts.alarm.run())
                group.create_task(self._absence.run())
                group.create_task(self.incidents.run())
                group.create_task(self.incidents.beat())
                group.create_task(self._set_clock_often())
                group.create_task(self._resync())
                group.create_task(self._free_often())
                group.create_task(self.mirrors.run())
        finally:
            # No request outlives the leader.
            await self._tasks.close()

    def _changed(self, change: inputs.Input) -> None:
        """A change for the decision is one for the incidents too. The decision comes first: restarts depend on it."""
        self.restarts.handle(change)
        match change:
            case inputs.PodChanged() | inputs.NodeChanged() | inputs.ProbesChanged() | inputs.RequestChanged():
                self.incidents.handle(change)

    def _incident_changed(self, output: IncidentOutput) -> None:
        """Judge again at once the failures that wait for an incident that is over, or of another kind by now."""
        if isinstance(output, Ended | Reclassified):
            self.restarts.handle(IncidentChanged(output.incident.id))

    def _configure(self, data: dict[str, str] | None) -> None:
        config = self._settings.update(data)
        self._report_mistakes()
        self._mapping.handle(MappingConfigured(config.detection))
        self.restarts.handle(Configured(config))
        self._absence.configure(config.unready_after_ns)

    def _report_mistakes(self) -> None:
        if self._leads and self._settings.mistakes:
            name, namespace = self._options.config_map, self._options.namespace
            regarding = Regarding("v1", "ConfigMap", namespace, name, "")
            self._events.record(regarding, "Warning", "ELPConfigurationInvalid", "; ".join(self._settings.mistakes))

    def _set_clock(self) -> None:
        self.restarts.handle(WallClock(self._clock.wall_ns() - self._clock.now()))

    async def _set_clock_often(self) -> NoReturn:
        while True:
            await self._clock.sleep(CLOCK_NS)
            self._set_clock()

    async def _free_often(self) -> NoReturn:
        while True:
            await self._clock.sleep(FREE_NS)
            if self.mirrors.is_synced:
                self._free()

    async def _resync(self) -> NoReturn:
        while True:
            await self._clock.sleep(RESYNC_NS)
            self._mapping.handle(Resync())
