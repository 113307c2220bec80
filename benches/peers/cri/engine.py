"""probelet's exec probes: the engine, and the code of ``probelet run`` between the engine and the runtime."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import probelet.lab.bench.load
from probelet._rust import Engine, ExecEnd
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import node
from probelet.runtime.cri.client import RuntimeClient
from probelet.runtime.execs.runtime_execs import RuntimeExecs
from probelet.runtime.seen.runtime_calls import RuntimeCalls

from benches.peers.cri.stamp import Load, Stamps

NOWHERE = Place.parse("127.0.0.1:1")


class StampedEngine:
    """Passes batches and answers on, and reads the time stamps in them."""

    def __init__(self, engine: Engine, stamps: Stamps) -> None:
        self._engine = engine
        self._stamps = stamps
        self._due: dict[int, int] = {}
        self._zero = time.monotonic_ns() - engine.now()
        """The engine's clock runs like the machine's, but has its own zero."""

    def begin(self, execs: RuntimeExecs) -> None:
        runs = self._engine.drain().execs
        for run in runs:
            self._due[run.run] = run.due_ns
        execs.start(runs)

    def now(self) -> int:
        return self._engine.now()

    def finish_execs(self, finished: list[ExecEnd]) -> None:
        self._engine.finish_execs(finished)
        for end in finished:
            due = self._due.pop(end.run)
            if end.kind == "exit":
                self._stamps.answered(self._zero + due, end.output)
            else:
                self._stamps.failed += 1


@asynccontextmanager
async def engine(load: Load, stamps: Stamps) -> AsyncIterator[None]:
    engine, loop = Engine(seed=1), asyncio.get_running_loop()
    stamped = StampedEngine(engine, stamps)
    async with RuntimeClient(f"unix://{load.socket}", observer=RuntimeCalls().observe) as client:
        execs = RuntimeExecs(client, stamped)
        loop.add_reader(engine.fileno(), stamped.begin, execs)
        pods = probelet.lab.bench.load.Load("exec", load.workers, load.period)
        for name, pod, facts in node(pods, NOWHERE):
            engine.define_pod(pod)
            engine.sync_pod(name, facts)
        try:
            yield
        finally:
            loop.remove_reader(engine.fileno())
            await execs.close()
            engine.close()
