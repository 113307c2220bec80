"""Carries the mapping out: reads and writes NodePodProbes."""

import structlog

from probelet.beside.guard.mapping.mapper import Mapper
from probelet.beside.guard.mapping.merge import MergeOptions
from probelet.beside.guard.mapping.protocol import GotProbes, Input, Output, PodEvent, Read, Write, Wrote
from probelet.controller.alarm import Alarm
from probelet.controller.metrics import ControllerMetrics
from probelet.host.tasks import Tasks
from probelet.kube.clock import Clock
from probelet.kube.connection import Connection, Object
from probelet.kube.error import Conflict, KubeError, NotFound
from probelet.kube.events.writer import EventWriter, Regarding
from probelet.kube.kinds import NODE_POD_PROBES

log = structlog.get_logger("probelet.controller")


class MappingReconciler:
    """The mapping of one leadership."""

    def __init__(
        self,
        connection: Connection,
        options: MergeOptions,
        clock: Clock,
        events: EventWriter,
        metrics: ControllerMetrics,
        tasks: Tasks,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._events = events
        self._metrics = metrics
        self._tasks = tasks
        self._mapper = Mapper(options)
        self.alarm = Alarm(clock, self._mapper.deadline, lambda: self.handle(None))

    def handle(self, change: Input | None) -> None:
        """Passes a change to the mapping, and starts what follows."""
        for output in self._mapper.handle(self._clock.now(), change):
            self._carry_out(output)
        self.alarm.rearm()

    def _carry_out(self, output: Output) -> None:
        match output:
            case Read():
                self._tasks.spawn(self._read(output))
            case Write():
                self._tasks.spawn(self._write(output))
            case PodEvent():
                pod = output.pod
                regarding = Regarding("v1", "Pod", pod.namespace, pod.name, pod.uid)
                is_news = output.reason == "ELPProbeMapped"
                self._events.record(regarding, "Normal" if is_news else "Warning", output.reason, output.message)

    async def _read(self, read: Read) -> None:
        try:
            answer: Input = GotProbes(read.node, await self._connection.get(NODE_POD_PROBES, read.node))
        except NotFound:
            answer = GotProbes(read.node, None)
        except KubeError as error:
            log.warning("mapping", node=read.node, problem=str(error))
            answer = Wrote(read.node, "failed")
        self.handle(answer)

    async def _write(self, write: Write) -> None:
        try:
            written = await self._send(write)
            answer = Wrote(write.node, "done", None if written is None else written["metadata"].get("generation", 0))
        except (Conflict, NotFound):
            # Another writer was faster, or somebody has deleted the object: the mapping reads it again.
            answer = Wrote(write.node, "conflict")
        except KubeError as error:
            log.warning("mapping", node=write.node, problem=str(error))
            answer = Wrote(write.node, "failed")
        self._metrics.wrote("nodepodprobes", write.verb, answer.outcome)
        self.handle(answer)

    async def _send(self, write: Write) -> Object | None:
        match write.verb:
            case "create":
                return await self._connection.create(NODE_POD_PROBES, write.body)
            case "replace":
                return await self._connection.replace(NODE_POD_PROBES, write.body)
            case "delete":
                meta = write.body["metadata"]
                await self._connection.delete(
                    NODE_POD_PROBES, write.node, uid=meta["uid"], resource_version=meta["resourceVersion"]
                )
                return None
