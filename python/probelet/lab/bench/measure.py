"""Measures the engine under a load, from inside its own process."""

import json
import select
import time
from collections.abc import Callable
from typing import Literal

from probelet._rust import Engine, ExecEnd
from probelet.lab.bench.disturbance import Disturbance
from probelet.lab.bench.document import BenchDocument
from probelet.lab.bench.load import Load
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import node, uid
from probelet.lab.bench.reading import read
from probelet.lab.bench.target import OwnTarget
from probelet.lab.bench.usage import resident_bytes, usage

TURN_SECONDS = 0.1
"""Pause between two disturbances of the load."""

QUANTILES = {"p50": 0.5, "p99": 0.99, "max": 1.0}

Say = Callable[[str], None]


def serve(engine: Engine, seconds: float) -> None:
    """Does the work of a node agent while nothing changes: waits for batches and takes them. Exec attempts succeed at
    once, with one call per batch."""
    end = time.monotonic() + seconds
    poll = select.poll()
    poll.register(engine.fileno(), select.POLLIN)
    while (left := end - time.monotonic()) > 0:
        if poll.poll(left * 1000):
            batch = engine.drain()
            if batch.execs:
                engine.finish_execs([ExecEnd.exit(run.run, 0, b"") for run in batch.execs])


def measure(load: Load, target: Place, say: Say, watched: OwnTarget | None = None) -> BenchDocument:
    """Adds the pods, warms up, measures, removes the pods.

    Lateness comes from the ``watched`` target if it saw enough probes, else from the engine. Ctrl-C ends the measured
    time early.
    """
    engine = Engine(seed=1, start_jitter=not load.burst, phase=load.phase, wake_slack_ns=round(load.wake_slack * 1e9))
    try:
        return _measure(engine, load, target, say, watched)
    finally:
        engine.close()


def _measure(engine: Engine, load: Load, target: Place, say: Say, watched: OwnTarget | None) -> BenchDocument:
    pods = list(node(load, target))
    for _, pod, _ in pods:
        engine.define_pod(pod)
    loaded, began = resident_bytes(), time.monotonic()
    for name, _, facts in pods:
        engine.sync_pod(name, facts)
    added = time.monotonic() - began
    say(f"{load.workers:,} workers added; warming up for {load.warm:g} s")
    serve(engine, load.warm)
    failed = _false_failures(engine, load)
    if watched:
        watched.forget()
    before, used, began = read(engine), usage(), time.monotonic()
    try:
        say(f"measuring for {load.duration:g} s")
        _endure(engine, load, target)
    except KeyboardInterrupt:
        say("interrupted; these are the figures so far")
    elapsed, used = time.monotonic() - began, usage() - used
    seen = read(engine) - before
    late = {name: seen.lateness_ms(quantile) for name, quantile in QUANTILES.items()}
    stamped_by: Literal["prober", "target"] = "prober"
    # A target measures lateness on a worker's grid, which needs three probes of that worker.
    if watched and (stamped := watched.statistics())["samples"]:
        late, stamped_by = stamped["lateness_ms"], "target"
    say("measured; removing the workers")
    grown = resident_bytes() - loaded
    failed = _false_failures(engine, load) - failed if load.faulty else seen.failures
    began = time.monotonic()
    for name, _, _ in pods:
        engine.forget_pod(name)
    removed = time.monotonic() - began
    return {
        "schema": "probelet-bench/1",
        "scenario": load.handler,
        "workers": load.workers,
        "period_seconds": load.period,
        "seconds": round(elapsed, 3),
        "probes": seen.probes,
        "probes_per_second": round(seen.probes / elapsed, 1),
        "cpu_us_per_probe": round(used.cpu_seconds * 1e6 / seen.probes, 2) if seen.probes else None,
        "false_failures": failed,
        "lateness_ms": {name: round(late[name], 3) for name in QUANTILES},
        "lateness_stamped_by": stamped_by,
        "bytes_per_worker": round(grown / load.workers),
        "add_ms": round(added * 1000, 1),
        "remove_ms": round(removed * 1000, 1),
        "wakeups_per_second": round(used.wakeups / elapsed, 1),
    }


def _endure(engine: Engine, load: Load, target: Place) -> None:
    """Runs the measured time, with disturbances if the load has any."""
    if not load.churn and not load.restarts:
        serve(engine, load.duration)
        return
    disturbance, end = Disturbance(engine, load, target), time.monotonic() + load.duration
    while (left := end - time.monotonic()) > 0:
        disturbance.turn(TURN_SECONDS)
        serve(engine, min(left, TURN_SECONDS))


def _false_failures(engine: Engine, load: Load) -> int:
    """The failed runs of workers whose target is well; 0 if the load has no faulty target. The engine's counters do not
    tell workers apart, so this reads the state of every worker, a long page."""
    if load.faulty is None:
        return 0
    healthy = {uid(number) for number in range(load.workers) if not load.faulty.has(number)}
    states = json.loads(engine.probe_states())
    return sum(state["failures"] + state["errors"] for state in states if state["pod_uid"] in healthy)
