"""The service: puts every part of the node together, on one event loop.

The client decides which runtime it is, and ``view`` shows the node to any server of pages.
"""

import asyncio
from functools import partial

import structlog

from probelet.host.batches import HandedOver
from probelet.host.incidents.events import IncidentEvents
from probelet.host.incidents.webhook import tell_webhook
from probelet.host.probed_pods import ProbedPods
from probelet.node.aging import Aging
from probelet.node.commands import NodeCommands
from probelet.node.effects.effects import Effects
from probelet.node.effects.logs.rotation import LogRotation
from probelet.node.effects.mounts.pod_files import PodFiles
from probelet.node.effects.mounts.termination_message import TerminationMessages
from probelet.node.effects.orphans import RETRY_NS, Orphans
from probelet.node.foreign_listeners import ForeignListeners
from probelet.node.metrics.node_metrics import NodeMetrics
from probelet.node.options import NodeOptions
from probelet.node.pod import NodeParts
from probelet.node.pods import NodePods
from probelet.node.view import NodeView
from probelet.policy.node.restart_gate import RestartGate
from probelet.runtime.cri.errors import CriError
from probelet.runtime.host import RuntimeHost
from probelet.runtime.seen import labels

log = structlog.get_logger("probelet.node")


class Service:
    """Runs pods until they are drained.

    ``start``, then ``pods.set`` whenever the source has news, ``pods.drain`` once, ``close``. All on one event loop.
    ``close`` closes the host.
    """

    def __init__(self, host: RuntimeHost, gate: RestartGate, options: NodeOptions) -> None:
        self.host = host
        self._options = options
        self._files = None if options.root is None else PodFiles(options.root)
        if self._files is not None:
            host.inspection.messages = TerminationMessages(self._files, options.log_root)
        self._listeners = ForeignListeners(host) if host.on_host else None
        metrics = NodeMetrics(gate, options.configuration)
        effects = Effects(host, options, self._files, self._listeners)
        parts = NodeParts(host, options, gate, effects, metrics)
        self.pods = NodePods(parts)
        """Which pods run."""
        by_uid = self.pods.by_uid
        host.own(partial(labels.is_of, host.node), by_uid, self.pods.observe)
        self.commands = NodeCommands(by_uid, options.log_root)
        """The commands of an operator."""
        age = options.max_age_ns
        self._aging = None if age is None else Aging(host, age, gate, by_uid)
        self.view = NodeView(parts, self.pods, self._aging, self._listeners)
        """The content of the pages."""

    async def start(self) -> None:
        """Finds the runtime and lists its pods. Raises CriError, one line for the user, if it cannot be used."""
        host, releases = self.host, self.pods.releases
        on_update = None if releases is None else releases.handle
        subscriber = ProbedPods(
            self.pods.by_uid, host.recorder, host.execs.start, self._options.event_wording, on_update
        )
        if self._options.incidents is not None:
            host.incidents.begin(host.batches, self._options.hold_kills)
            host.incidents.listeners.append(IncidentEvents(host.incidents, host.recorder.record))
            tell_webhook(host, self._options.incident_webhook)
        host.drift.begin(self.pods.by_uid)
        await host.start(subscriber)
        if self._aging is not None:
            host.tasks.spawn(self._aging.run())
        self._begin_logs()
        if self._listeners is not None:
            host.tasks.spawn(self._listeners.run())

    def _begin_logs(self) -> None:
        host, logs = self.host, self._options.logs
        if logs.limits is not None:
            rotation = LogRotation(
                host,
                self.pods.by_uid,
                log_root=self._options.log_root,
                limits=logs.limits,
                period_ns=logs.period_ns,
            )
            host.tasks.spawn(rotation.run())
        if logs.kept is not None:
            host.tasks.spawn(logs.kept.follow(host.timers.sleep))

    async def remove_orphans(self) -> None:
        """Ends the pods that an earlier probelet of this node left on the runtime and that ``pods`` does not have."""
        await Orphans(self.host, self._options.log_root, self._files).remove(self.pods.by_uid)

    async def remove_orphans_later(self, right: asyncio.Event) -> None:
        """Removes the orphans once ``right`` is set, and never returns.

        ``right``: no manifest has a mistake. Until then one of the orphans may be the pod of the manifest with the
        mistake, which goes on as it is, as it would if its manifest broke in operation.
        """
        await right.wait()
        while True:
            try:
                await self.remove_orphans()
                break
            except CriError as error:
                log.warning("pods without a manifest could not be listed", error=str(error))
            await self.host.timers.sleep(RETRY_NS)
        await asyncio.get_running_loop().create_future()

    def share(self, handed_over: HandedOver) -> None:
        """Lets this engine probe pods of another node agent; ``handed_over`` gets their part of each batch."""
        self.host.batches.handed_over = handed_over

    async def close(self) -> None:
        """Stops everything that runs here. Pods that were not drained stay as they are on the runtime."""
        await self.host.close()
