"""The meaning of a probe's fields in seconds: bounds, calculated from the fields alone.

Laws
 1. Nothing is played here. ``bounds`` is arithmetic over the fields of one container's probes; its rules are those of
    ``rust/core/src/prober`` (``run``, ``attempt``, ``model/worker``). ``crash_loop`` asks the core's own back-off.
 2. A bound is an infimum or a supremum over everything that the fields leave open: the phase of each probe's ticks, the
    part of a second that ``startedAt`` loses, the length of each attempt from 0 to its timeout, and when the pod syncs.
    ``tests/unit/lab/explain`` plays random configurations in the simulator: nothing is outside, each bound is reached.
 3. The bounds leave out what no field says: attempts that end in a prober error count for nothing; the status shows a
    container at the moment it runs (a ``postStart`` hook delays that); a container begins with a count of zero; the
    prober is not restarted. The prober may be younger than a period: its jitter is a phase like any other.
"""

from typing import TYPE_CHECKING

from probelet.lab.explain.bounds import Bounds, Timing, bounds
from probelet.lab.explain.crash_loop import CrashLoop, crash_loop
from probelet.lab.explain.span import Span

if TYPE_CHECKING:
    from probelet.lab.explain.probes import Explained, explain

__all__ = ["Bounds", "CrashLoop", "Explained", "Span", "Timing", "bounds", "crash_loop", "explain"]


def __getattr__(name: str) -> object:
    # The linter takes the bounds alone and has to start quickly; this module brings the policy and the gates with it.
    if name in ("Explained", "explain"):
        from probelet.lab.explain import probes

        return getattr(probes, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
