"""The one object of a process that looks at a container runtime beside its engine: a node, an agent, or a prober
service whose exec attempts the runtime carries out. The laws are those of ``probelet.host.engine_host``; two more:

1. There is one client, one cache and one list of the runtime in a process. A part that wants news of a pod sooner asks
   ``pleg`` for a list.
2. The client is the caller's: it stays open for other users of the same connection, and is closed after the host.
"""

from collections.abc import Callable, Container

import structlog

from probelet._rust import Engine
from probelet.host.batches import Subscriber
from probelet.host.engine_host import EngineHost
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.execs.direct.direct_execs import DirectExecs
from probelet.runtime.execs.limits import ExecLimits
from probelet.runtime.execs.runtime_execs import RuntimeExecs
from probelet.runtime.networks.pod_networks import PodNetworks
from probelet.runtime.seen import labels
from probelet.runtime.seen.cache import PodCache
from probelet.runtime.seen.inspection import Inspection
from probelet.runtime.seen.node_address import node_address
from probelet.runtime.seen.pleg import Pleg
from probelet.runtime.seen.runtime_calls import RuntimeCalls

log = structlog.get_logger("probelet.node")


class RuntimeHost(EngineHost):
    """``on_host`` says that the runtime's containers are processes of this machine and not made from images;
    ``address`` is the node's, None for that of the default route; ``exec_limits`` are opt-ins, ``direct_execs`` is the
    helper of ``execMode: direct``, which the host closes; ``calls`` is the client's observer. Create it on the event
    loop that uses it."""

    pleg: Pleg
    """The list of the runtime; there from ``own`` on."""

    def __init__(
        self,
        client: RuntimeClient,
        engine: Engine,
        node: str,
        *,
        on_host: bool = False,
        address: str | None = None,
        exec_limits: ExecLimits | None = None,
        direct_execs: DirectExecs | None = None,
        calls: RuntimeCalls | None = None,
    ) -> None:
        super().__init__(engine, node)
        self.client = client
        self.on_host = on_host
        self.address = address or node_address(on_host=on_host)
        """``status.hostIP`` of the node's pods, and the address of pods on the host's network."""
        self.calls = calls or RuntimeCalls()
        self.exec_limits = exec_limits or ExecLimits()
        self.execs = RuntimeExecs(client, engine, self.exec_limits, direct_execs)
        if direct_execs is not None:
            self.batches.on_entered = direct_execs.take
        self.cache = PodCache()
        self.inspection = Inspection(client, self.cache, self.timers)
        self.networks = PodNetworks(client, engine, self.tasks, self.cache)

    def own(
        self,
        counts: Callable[[labels.Sandbox], bool],
        pods: Container[str],
        on_change: Callable[[str], None],
    ) -> None:
        """Says which of the runtime's pods are this process's, as ``Pleg`` wants to know it; before ``start``."""
        self.pleg = Pleg(
            self.client,
            self.cache,
            self.timers,
            self.tasks,
            self.inspection,
            counts=counts,
            own=pods,
            on_change=on_change,
        )

    async def start(self, subscriber: Subscriber) -> None:
        """Finds the runtime, lists it, and follows it and the engine from now on. Raises CriError, one line for the
        user, if the runtime cannot be used."""
        version = await self.client.verify()
        self.inspection.runtime = version.runtime_name
        # The list has a limit of time, and its end arrives in a batch.
        self.batches.watch(subscriber)
        await self.pleg.relist()
        self.tasks.spawn(self.pleg.follow())
        self.tasks.spawn(self.pleg.relist_for_ever())
        log.info(
            "runtime found",
            endpoint=self.client.endpoint,
            runtime=version.runtime_name,
            version=version.runtime_version,
        )

    async def close(self) -> None:
        """Stops everything that runs here, and closes the engine and ``direct_execs``."""
        await self.tasks.close()
        await self.execs.close()
        await super().close()
