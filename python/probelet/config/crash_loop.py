"""Derives the node's crash-loop curve from the configuration (KEP-4603 and KEP-5593).

Rules
1. Each spelling of the field has its own semantics. The shipped one, ``crashLoopBackOff.maxContainerRestartPeriod``,
   is refused while its gate is off (kubelet validation.go, 1.36). KEP-4603's ``crashloopbackoff.maxSeconds`` is then
   ignored with a warning, and its gate is off unless a file or flag names it, whatever the release's default is.
2. A maximum below the initial delay lowers the initial delay too. One above the default maximum is allowed.
3. Defaulting leaves an unset field unset. So the order of gates, drop-ins and flags does not matter, and both gates on
   with no value set means 1 s to 60 s. ``reducedCurveMax: shipped`` gives the 300 s that the kubelet's defaulting
   writes instead.
"""

from typing import Literal

import msgspec

from probelet.config.gate import Gates
from probelet.config.kubelet import KubeletConfiguration
from probelet.config.opt_in import ProbeletConfiguration
from probelet.spec.text.duration import MILLISECOND, SECOND, format_duration
from probelet.spec.text.problem import FieldError

REDUCE = "ReduceDefaultCrashLoopBackOffDecay"
MAX = "KubeletCrashLoopBackOffMax"

PERIOD = "crashLoopBackOff.maxContainerRestartPeriod"
SECONDS = "crashloopbackoff.maxSeconds"

# kubelet.go, 1.36: initial and longest delay, without and with the gate ReduceDefaultCrashLoopBackOffDecay.
DEFAULT_CURVE = (10 * SECOND, 300 * SECOND)
REDUCED_CURVE = (1 * SECOND, 60 * SECOND)
# A container that ran longer than this starts again with the initial delay (KEP-4603: no longer twice the maximum).
RESET = 600 * SECOND
# The kubelet's defaulting writes this into an unset period.
SHIPPED_DEFAULT = 300 * SECOND

PERIOD_MS_MIN, PERIOD_MS_MAX = 1_000, 300_000
SECONDS_MIN, SECONDS_MAX = 1, 300

CurveSource = Literal["default", "reduced", "node"]


class CrashLoop(msgspec.Struct, frozen=True):
    """The node's curve, in nanoseconds."""

    initial: int = DEFAULT_CURVE[0]
    max: int = DEFAULT_CURVE[1]
    reset: int = RESET
    source: CurveSource = "default"
    """``reduced`` by the gate, or ``node`` for a maximum in the node's configuration."""


class Resolution(msgspec.Struct):
    """The curve, and the problems found on the way."""

    curve: CrashLoop = CrashLoop()
    errors: list[FieldError] = []
    ignored: list[FieldError] = []


def resolve_crash_loop(
    kubelet: KubeletConfiguration, probelet: ProbeletConfiguration, gates: Gates, *, max_gate_named: bool
) -> Resolution:
    """``max_gate_named``: a file or flag sets ``KubeletCrashLoopBackOffMax`` by name, in either spelling."""
    found = Resolution()
    period = _period(kubelet, gates, found)
    seconds = _seconds(kubelet, gates, found, max_gate_named=max_gate_named)
    both = (kubelet.crash_loop_back_off.max_container_restart_period, kubelet.crashloopbackoff.max_seconds)
    if None not in both:
        found.errors.append(FieldError(SECONDS, "Forbidden", detail=f"may not be set together with {PERIOD}"))
    (initial, longest), source = (REDUCED_CURVE, "reduced") if gates[REDUCE] else (DEFAULT_CURVE, "default")
    wanted = period if period is not None else seconds
    if wanted is not None:
        longest, source = wanted, "node"
    elif gates[REDUCE] and gates[MAX] and probelet.reduced_curve_max == "shipped":
        longest = SHIPPED_DEFAULT
    found.curve = CrashLoop(min(initial, longest), longest, RESET, source)  # type: ignore[arg-type]
    return found


def _period(kubelet: KubeletConfiguration, gates: Gates, found: Resolution) -> int | None:
    period = kubelet.crash_loop_back_off.max_container_restart_period
    if period is None:
        return None
    if not gates[MAX]:
        detail = f"must not be set while the feature gate {MAX} is off"
        found.errors.append(FieldError(PERIOD, "Forbidden", detail=detail))
    # The kubelet compares whole milliseconds, truncated towards zero as Go does.
    elif not PERIOD_MS_MIN <= int(period / MILLISECOND) <= PERIOD_MS_MAX:
        value = format_duration(period)
        found.errors.append(FieldError(PERIOD, "Invalid value", value, "must be set between 1s and 300s"))
    else:
        return period
    return None


def _seconds(kubelet: KubeletConfiguration, gates: Gates, found: Resolution, *, max_gate_named: bool) -> int | None:
    seconds = kubelet.crashloopbackoff.max_seconds
    if seconds is None:
        return None
    if not (gates[MAX] and max_gate_named):
        detail = f"ignored: the feature gate {MAX} (EnableKubeletCrashLoopBackoffMax) is not switched on"
        found.ignored.append(FieldError(SECONDS, "Forbidden", seconds, detail))
    elif not SECONDS_MIN <= seconds <= SECONDS_MAX:
        detail = f"must be between {SECONDS_MIN} and {SECONDS_MAX}, inclusive"
        found.errors.append(FieldError(SECONDS, "Invalid value", seconds, detail))
    else:
        return seconds * SECOND
    return None
