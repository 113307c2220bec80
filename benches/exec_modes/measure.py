"""One row: the processor time of a prober and of everything that works for it, then the latency of its attempts."""

import asyncio
import time
from typing import Any

from benches.exec_modes.pods import Probed, rate_of
from benches.exec_modes.probers import Prober
from benches.exec_modes.processor_time import busy, used

ATTEMPTS_MIN = 30
"""Attempts of a row: the kernel shows processor time in hundredths of a second."""
SAMPLES = 100
"""Latencies of a row, so that its p99 is one of them."""
SAMPLING_SECONDS = 20.0
"""The longest time for that."""

RESTING_SECONDS = 30
RESTING_CORES = 0.05
IDLE_SECONDS = 20.0
"""Twice the period of containerd's statistics."""

Row = dict[str, Any]


async def idle_cores(processes: list[int]) -> float:
    """What these processes use while nobody probes: containerd collects statistics of every container."""
    before, began = used(processes), time.perf_counter()
    await asyncio.sleep(IDLE_SECONDS)
    return (used(processes) - before) / (time.perf_counter() - began)


async def measured(name: str, prober: Prober, load: list[Probed], seconds: float, idle: float) -> Row:
    """Waits until every worker has made its first attempt, measures for ``seconds``, and samples latencies after it,
    because reading them costs the prober time. ``idle`` is what the runtime uses in any case, in cores."""
    period = max(probed.period for probed in load)
    await asyncio.sleep(period + 1)
    before, whole, began = _used(prober), busy(), time.perf_counter()
    attempts, failed = prober.counts()
    await asyncio.sleep(max(seconds, period, ATTEMPTS_MIN / rate_of(load)))
    after, took = _used(prober), time.perf_counter() - began
    whole = busy() - whole
    ended, wrong = prober.counts()
    made = max(1, ended - attempts)
    spent = {role: after[role] - before[role] for role in after}
    spent["runtime"] -= idle * took
    return {
        "mode": name,
        "containers": len(load),
        "rate": round(rate_of(load), 1),
        "attempts": ended - attempts,
        "failed": wrong - failed,
        "cpu_ms": round(1e3 * sum(spent.values()) / made, 3),
        **{f"{role}_cpu_ms": round(1e3 * value / made, 3) for role, value in spent.items()},
        "cores": {role: round(value / took, 4) for role, value in spent.items()},
        "machine_busy_cores": round(whole / took, 2),
        **quantiles(await _latencies(prober, period)),
    }


async def rested(processes: list[int]) -> None:
    """Waits until these processes do nothing: a runtime still ends commands of a prober that has left."""
    for _ in range(RESTING_SECONDS):
        before = used(processes)
        await asyncio.sleep(1)
        if used(processes) - before <= RESTING_CORES:
            return


async def _latencies(prober: Prober, period: int) -> list[float]:
    prober.latest()
    found: list[float] = []
    end = time.monotonic() + SAMPLING_SECONDS
    while len(found) < SAMPLES and time.monotonic() < end:
        await asyncio.sleep(period)
        found += prober.latest()
    return found


def quantiles(latencies_ms: list[float]) -> dict[str, float]:
    """p50, p99 and the longest of latencies in milliseconds."""
    ordered = sorted(latencies_ms)
    at = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1.0}
    return {name: round(ordered[min(len(ordered) - 1, int(q * len(ordered)))], 2) for name, q in at.items() if ordered}


def _used(prober: Prober) -> dict[str, float]:
    return {role: used(processes) for role, processes in prober.processes.items()}
