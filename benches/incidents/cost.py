"""The cost of looking for incidents: two ``probelet run`` side by side, with ``incidents`` true and false.

Both probe the same server at the same time, and their CPU is read over the same windows: what else the machine does
hits both, and each window is a pair. How the attempts of a process lie to each other changes what its engine's thread
costs by more than incidents do. So the pairs come from two runs with the order of the starts reversed, and the thread
of the event loop, in which the detector works, stands by itself. Both keep the history of every probe, which no setting
turns off.
"""

import asyncio
import statistics
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, TypeAlias

from benches.incidents.process import Cpu, answering, cpu, run, write_pods

PODS: Final = 100
PERIOD_SECONDS: Final = 1
WINDOWS: Final = 12
WINDOW_SECONDS: Final = 5.0
Pair: TypeAlias = tuple[Cpu, Cpu]
"""With incidents and without."""
SETTLED_SECONDS: Final = 15.0
"""The time from a change of the server to the first window: an incident has begun and settled by then."""


def cost(windows: int = WINDOWS) -> dict[str, Any]:
    """The figures: micros of a core for an attempt."""
    well, failing = [], []
    for order in ((True, False), (False, True)):
        found = asyncio.run(_pairs(order, windows // 2))
        well += found[0]
        failing += found[1]
    figures = {"pods": PODS, "windows": len(well), "window_seconds": WINDOW_SECONDS}
    return {**figures, "well": _summed_up(well), "failing": _summed_up(failing)}


async def _pairs(order: tuple[bool, bool], windows: int) -> tuple[list[Pair], list[Pair]]:
    """The pairs while the probes are well, and while all of them fail."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        server, port = await answering()
        write_pods(folder, PODS, port, PERIOD_SECONDS)
        runs = {
            is_on: await stack.enter_async_context(run(folder, PODS, f"incidents: {str(is_on).lower()}"))
            for is_on in order
        }
        await asyncio.sleep(SETTLED_SECONDS)
        well = await _windows(runs, windows)
        server.close()
        await asyncio.sleep(SETTLED_SECONDS)
        return well, await _windows(runs, windows)


async def _windows(runs: dict[bool, int], windows: int) -> list[Pair]:
    found: list[Pair] = []
    before = {is_on: cpu(process) for is_on, process in runs.items()}
    for _ in range(windows):
        await asyncio.sleep(WINDOW_SECONDS)
        after = {is_on: cpu(process) for is_on, process in runs.items()}
        on, off = (_for_an_attempt(before[is_on], after[is_on]) for is_on in (True, False))
        found.append((on, off))
        before = after
    return found


def _for_an_attempt(before: Cpu, after: Cpu) -> Cpu:
    """Micros of the loop's thread and of the process."""
    attempts = PODS * WINDOW_SECONDS / PERIOD_SECONDS
    return 1e6 * (after[0] - before[0]) / attempts, 1e6 * (after[1] - before[1]) / attempts


def _summed_up(pairs: list[Pair]) -> dict[str, float]:
    """The medians, and the middle half of the differences in the loop's thread."""
    more = sorted(on[0] - off[0] for on, off in pairs)
    quarter = len(more) // 4
    return {
        "loop_on": round(statistics.median(on[0] for on, _ in pairs), 1),
        "loop_off": round(statistics.median(off[0] for _, off in pairs), 1),
        "from": round(more[quarter], 1),
        "to": round(more[-1 - quarter], 1),
        "on": round(statistics.median(on[1] for on, _ in pairs), 1),
        "off": round(statistics.median(off[1] for _, off in pairs), 1),
    }
