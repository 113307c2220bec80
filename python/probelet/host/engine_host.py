"""The one object that a process has around its engine. Node, agent and prober service take it, and keep nothing of it a
second time.

Laws:

1. One engine, one host: its clock, its timers, its recorder of events and its reader of batches are the host's.
2. Everything that goes on in the background is one of its ``tasks``: the first failure is what ``run`` raises, and it
   ends the process.
3. A host knows no pods: the owner of pods subscribes to its batches. A process beside a container runtime has a
   ``runtime.host.RuntimeHost``, which is a host as well.
4. ``close`` goes from the outside in: tasks, exec attempts, the reader, the engine, and what the engine says last.
"""

from probelet._rust import Engine
from probelet.host.batches import BatchReader
from probelet.host.drift_watch import DriftWatch
from probelet.host.incidents.watch import IncidentWatch
from probelet.host.recorder import Recorder
from probelet.host.tasks import Tasks
from probelet.host.timers import Timers


class EngineHost:
    """``node`` is the name of the node that the process is for. The owner closes the host, and the host its engine."""

    def __init__(self, engine: Engine, node: str) -> None:
        self.engine = engine
        self.node = node
        self.timers = Timers(engine)
        """The engine's clock and deadlines."""
        self.tasks = Tasks()
        self.recorder = Recorder(engine.now, engine.wall_ms)
        """The recorder of events; a listener gets each event."""
        self.batches = BatchReader(engine, self.timers)
        self.incidents = IncidentWatch(self.timers, node)
        """Notices incidents once it has begun."""
        self.drift = DriftWatch(self.timers, engine.slowest_answers)
        """Notes how long starts take, and answers once it has begun."""

    async def run(self) -> None:
        """Waits until a task fails that must never fail, and raises its exception. Cancelling this stops nothing."""
        await self.tasks.failure()

    async def close(self) -> None:
        """Stops everything that runs here, and closes the engine."""
        await self.tasks.close()
        self.batches.close()
        self.engine.close()
        self.batches.log_notices(self.engine.drain())
