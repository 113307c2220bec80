"""Carries the restart decision out: creates and deletes requests, reserves places in budgets, writes events."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeAlias

import structlog

from probelet.beside.guard.objects.budget import BudgetKind
from probelet.beside.guard.restart.guard import Guard
from probelet.beside.guard.restart.protocol.inputs import Input, Wrote
from probelet.beside.guard.restart.protocol.outputs import (
    AnnotatePod,
    Create,
    Decision,
    Delete,
    Event,
    Finished,
    Gauges,
    Output,
    Reserve,
)
from probelet.beside.guard.restart.state.observed_cluster import GuardOptions, IncidentOf
from probelet.controller.alarm import Alarm
from probelet.controller.metrics import ControllerMetrics
from probelet.host.tasks import Tasks
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection
from probelet.kube.error import AlreadyExists, Conflict, Forbidden, Invalid, KubeError, NotFound, TooManyRequests
from probelet.kube.events.writer import EventWriter, Regarding
from probelet.kube.kind import Kind
from probelet.kube.kinds import (
    CONTAINER_RECREATE_REQUESTS,
    POD_DISRUPTION_BUDGETS,
    POD_UNAVAILABLE_BUDGETS,
    PODS,
)

log = structlog.get_logger("probelet.controller")

Outcome: TypeAlias = Literal["done", "exists", "conflict", "gone", "refused", "failed"]

TRIES: Final = 3
"""How often a write is sent that the server is too busy for; it has not happened then."""
BUSY_NS: Final = 1_000_000_000
"""The wait before the next try where the server names none."""

_BUDGETS: Final[dict[BudgetKind, Kind]] = {
    "PodDisruptionBudget": POD_DISRUPTION_BUDGETS,
    "PodUnavailableBudget": POD_UNAVAILABLE_BUDGETS,
}
_LOGGED: Final = {"Restarting", "DryRun", "CreateRejected"}
"""Decisions that the log has; the others are in events and metrics, and in the log of level debug."""


class RestartReconciler:
    """The restart decision of one leadership."""

    def __init__(
        self,
        connection: Connection,
        options: GuardOptions,
        clock: Clock,
        events: EventWriter,
        metrics: ControllerMetrics,
        tasks: Tasks,
        incident_of: IncidentOf,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._events = events
        self._metrics = metrics
        self._tasks = tasks
        self._guard = Guard(options, incident_of)
        self._leads = False
        self.alarm = Alarm(clock, self._guard.deadline, lambda: self.handle(None))

    def begin(self) -> None:
        """This process leads from now on."""
        self._leads = True

    def handle(self, change: Input | None) -> None:
        """Passes a change to the decision, and starts what follows. Before ``begin`` that is nothing: the leader says
        what happened to its requests."""
        outputs = self._guard.handle(self._clock.now(), change)
        for output in outputs if self._leads else ():
            self._carry_out(output)
        self.alarm.rearm()

    def gauges(self) -> Gauges:
        """The state in numbers."""
        return self._guard.gauges(self._clock.now())

    def _carry_out(self, output: Output) -> None:
        match output:
            case Decision():
                self._metrics.decided(output.reason)
                write = log.info if output.reason in _LOGGED else log.debug
                pod = f"{output.namespace}/{output.pod}"
                write("decision", reason=output.reason, pod=pod, container=output.container, why=output.message)
            case Create():
                body = output.body
                work = lambda: self._connection.create(CONTAINER_RECREATE_REQUESTS, body)  # noqa: E731
                self._tasks.spawn(self._write(output.number, "containerrecreaterequests", "create", work))
            case Delete():
                self._tasks.spawn(self._delete(output))
            case Reserve():
                self._tasks.spawn(self._reserve(output))
            case AnnotatePod():
                self._tasks.spawn(self._annotate(output))
            case Event():
                found = output.regarding
                regarding = Regarding(found.api_version, found.kind, found.namespace, found.name, found.uid)
                self._events.record(regarding, output.type, output.reason, output.message)
            case Finished():
                self._metrics.finished(output)

    async def _delete(self, delete: Delete) -> None:
        namespace, name = delete.key
        log.info("deleting a request", request=f"{namespace}/{name}", why=delete.why)
        work = lambda: self._connection.delete(  # noqa: E731
            CONTAINER_RECREATE_REQUESTS, name, namespace, uid=delete.uid
        )
        await self._write(delete.number, "containerrecreaterequests", "delete", work)

    async def _reserve(self, reserve: Reserve) -> None:
        budget, namespace, name = reserve.budget
        kind = _BUDGETS[budget]
        work = lambda: self._connection.patch(  # noqa: E731
            kind, name, namespace, reserve.patch, type="merge", subresource="status"
        )
        await self._write(reserve.number, kind.plural, "reserve", work)

    async def _annotate(self, annotate: AnnotatePod) -> None:
        # With its UID the API server refuses the patch for another pod of the name.
        patch: dict[str, Any] = {"metadata": {"uid": annotate.uid, **annotate.patch["metadata"]}}
        outcome, message = await self._outcome(
            lambda: self._connection.patch(PODS, annotate.name, annotate.namespace, patch, type="merge")
        )
        self._metrics.wrote("pods", "annotate", outcome)
        if outcome not in ("done", "gone", "conflict"):
            log.warning("the last decision is not on its pod", problem=message)

    async def _write(self, number: int, resource: str, verb: str, work: Callable[[], Awaitable[Any]]) -> None:
        outcome, message = await self._outcome(work)
        self._metrics.wrote(resource, verb, outcome)
        if outcome in ("refused", "failed"):
            log.warning("a write did not succeed", problem=message)
        self.handle(Wrote(number, outcome, message))

    async def _outcome(self, work: Callable[[], Awaitable[Any]]) -> tuple[Outcome, str]:
        for left in reversed(range(TRIES)):
            try:
                await work()
            except TooManyRequests as error:
                if not left:
                    return "failed", str(error)
                await self._clock.sleep(error.retry_after_ns or BUSY_NS)
            except KubeError as error:
                return _outcome_of(error), str(error)
            else:
                return "done", ""
        raise AssertionError("unreachable")


def _outcome_of(error: KubeError) -> Outcome:
    match error:
        case AlreadyExists():
            return "exists"
        case Conflict():
            return "conflict"
        case NotFound():
            return "gone"
        case Forbidden() | Invalid():
            return "refused"
        case _:
            return "failed"
