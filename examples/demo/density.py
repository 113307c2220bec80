"""The main claim of probelet: 5,000 HTTP probes a second from one process, each on time."""

import resource
import select
import time
from collections.abc import Callable
from dataclasses import dataclass

from probelet._rust import Engine
from probelet.lab.bench.load import Load
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import node
from probelet.lab.bench.reading import Reading, read

from benches.measure.target import Target, target

WORKERS = 5_000
SECONDS = 10
WARM_SECONDS = 2
"""The first second spreads the workers over their period."""
LATENESS_P99_MS_BUDGET = 5.0
"""The budget for a quiet machine."""
BUSY_P99_MS = 250.0
"""Above this the machine is too busy to judge failures: a late probe has little left of its timeout of a second."""


@dataclass(frozen=True)
class Result:
    probes: int
    failures: int
    p50_ms: float
    p99_ms: float
    max_ms: float


def probe(show: Callable[[str], None]) -> Result:
    """Probes for ten seconds and shows a line for each. The target measures lateness when it accepts a connection."""
    with target() as served:
        engine = Engine(seed=1)
        try:
            for uid, pod, facts in node(Load("http", WORKERS), Place.parse(served.place)):
                engine.define_pod(pod)
                engine.sync_pod(uid, facts)
            _serve(engine, time.monotonic() + WARM_SECONDS)
            return _measured(engine, served, show)
        finally:
            engine.close()


def _measured(engine: Engine, served: Target, show: Callable[[str], None]) -> Result:
    served.forget()
    first = before = read(engine)
    began, cpu = time.monotonic(), _cpu()
    for second in range(1, SECONDS + 1):
        _serve(engine, began + second)
        now, used = read(engine), _cpu()
        show(_sentence(now - before, 100 * (used - cpu)))
        before, cpu = now, used
    late = served.statistics()["lateness_ms"]
    return Result(
        probes=(before - first).probes,
        failures=(before - first).failures,
        p50_ms=late["p50"],
        p99_ms=late["p99"],
        max_ms=late["max"],
    )


def _sentence(second: Reading, cpu_percent: float) -> str:
    # The lateness comes at the end, once: the target has it, and the engine's own figure would be another one.
    return f"{second.probes:>5,} probes   {second.failures} failed   {cpu_percent:.0f} % of a core"


def _serve(engine: Engine, until: float) -> None:
    poll = select.poll()
    poll.register(engine.fileno(), select.POLLIN)
    while (left := until - time.monotonic()) > 0:
        if poll.poll(left * 1000):
            engine.drain()


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
