"""The bounds of one container's probes: from when to when each of their decisions falls.

Options of a probe (``probelet.dev/probe-options``) count: with ``failures: {of: n, at: m}`` the failures begin after a
window without any, *m* of them decide, and a success decides once at most *m - 1* of the last *n* runs failed. Errors
that count (``errors``) change no bound: a run that errs is no answer. Attempts between the ordinary ones
(``periodMilliseconds``, ``untilReady``, ``whenFailing``) count as on a node whose budget has room for them.

In the names: *d* is ``initialDelaySeconds``, *p* ``periodSeconds``, *T* ``timeoutSeconds``, *F* ``failureThreshold``,
*S* ``successThreshold``. The bounds are whole seconds. The rules, with their places in the kubelet (1.36) and the core:

1. A worker runs on ticks *p* apart, whose phase is that of AddPod and not of the container (worker.go:run).
2. ``startedAt`` loses its part of a second in the status, so *d* seconds may be over up to a second early; the tick
   before that is lost (worker.go:doProbe; ``run.rs`` D8).
3. Ticks that pass during an attempt collapse into one, which runs at once; later ones stay in their places. So runs are
   at most ``max(p, T)`` apart, and *n* of them use *n* ticks (``model/worker.rs``, rule 2).
4. After an attempt longer than a period, the next run may begin right before a tick: the first two runs of a row are
   then almost together.
5. Each sync of the pod runs the readiness probe of a started container that is not ready, and these runs count
   (prober_manager.go:UpdatePodStatus). So syncs can make a container ready at once, but never late.
6. Until the startup probe has passed, the other probes do not run.
"""

from dataclasses import dataclass
from math import ceil, floor
from typing import NamedTuple

from probelet.lab.explain.span import Span
from probelet.spec.model.container import Container
from probelet.spec.model.probe import Probe, ProbeType
from probelet.spec.model.probe_options import options_of


@dataclass(frozen=True)
class Timing:
    """The fields of a probe, defaulted. ``patience`` is the failure threshold before the first success, ``recovery``
    how many successes in a row a window of failures may want."""

    delay: int
    period: int
    timeout: int
    failures: int
    successes: int
    patience: int
    recovery: int = 1
    own_ms: int | None = None
    """``periodMilliseconds``."""
    ready_ms: int | None = None
    """``untilReady``."""
    failing_ms: int | None = None
    """``whenFailing``."""

    @classmethod
    def of(cls, probe: Probe) -> "Timing":
        """The fields of a defaulted probe."""
        options = options_of(probe)
        window, threshold = options.failures, probe.failure_threshold
        initial = probe.initialization_failure_threshold
        failures = threshold if window is None else window.at
        return cls(
            probe.initial_delay_seconds,
            probe.period_seconds,
            probe.timeout_seconds,
            failures,
            probe.success_threshold,
            initial if initial > threshold else failures,
            1 if window is None else window.of - window.at + 1,
            options.period_milliseconds,
            options.until_ready_milliseconds,
            options.when_failing_milliseconds,
        )

    @property
    def gap(self) -> int:
        """The longest time from one run to the next (rule 3)."""
        return max(self.period, self.timeout)

    @property
    def pace(self) -> float:
        """From one run to the next of a container that is well."""
        return self.period if self.own_ms is None else self.own_ms / 1000

    @property
    def failing(self) -> float:
        """From one run to the next after a failure."""
        return self.pace if self.failing_ms is None else min(self.pace, self.failing_ms / 1000)

    @property
    def unstarted(self) -> float:
        """From one run that counts to the next before the first success: with ``untilReady`` only ordinary ones do."""
        return self.failing if self.ready_ms is None else self.period

    def least(self, failures: int, gap: float) -> float:
        """The shortest time of so many failures in a row that are ``gap`` apart."""
        # An ordinary tick may come right after a run between the ticks; with a period of its own no tick stays.
        ticks = int(failures * gap / self.period) if gap < self.pace else 0
        return max(failures - ticks, 0) * gap

    @property
    def delay_over(self) -> int:
        """When ``initialDelaySeconds`` may be over at the earliest (rule 2)."""
        return max(self.delay - 1, 0)


class Bounds(NamedTuple):
    """The spans of one probe. None: this probe has no such decision, or nothing ever kills the container.

    ``first_probe`` and ``startup_budget`` count from the container running: its first attempt, and the kill of a
    container that never succeeds. ``to_ready`` counts from the moment on which every attempt would succeed.
    ``to_unready`` and ``to_kill`` count from the moment on which every attempt would fail, after a success; a startup
    probe has no such success, so its moment lies anywhere before its first attempt.
    """

    first_probe: Span
    to_ready: Span | None
    to_unready: Span | None
    to_kill: Span | None
    startup_budget: Span | None


def bounds(container: Container) -> dict[ProbeType, Bounds]:
    """The bounds of each probe of a container with its defaults set."""
    timings = {probe_type: Timing.of(probe) for probe_type, probe in container.probes.items()}
    startup = timings.get("startup")
    killer = startup or timings.get("liveness")
    budget = None if killer is None else _budget(killer)
    found: dict[ProbeType, Bounds] = {}
    for probe_type, timing in timings.items():
        readiness, own = probe_type == "readiness", probe_type == "startup"
        found[probe_type] = Bounds(
            first_probe=_first(timing, None if own else startup, readiness=readiness),
            to_ready=_to_ready(timing, startup) if readiness else None,
            to_unready=_to_failure(timing) if readiness else None,
            to_kill=None if readiness else _startup_kill(timing) if own else _to_failure(timing),
            startup_budget=budget,
        )
    return found


def _first(timing: Timing, startup: Timing | None, *, readiness: bool) -> Span:
    """The first attempt, from the container running."""
    delay, period = timing.delay, timing.period
    if startup is None:
        # The sync that sees the container run also runs its readiness probe, and begins its ticks there.
        from_sync = float(-(-delay // period) * period)
        looks = timing.own_ms is not None or timing.ready_ms is not None
        typical = float(delay) if looks else from_sync if readiness else (timing.delay_over + delay + period) / 2
        return Span(timing.delay_over, typical, delay + period)
    passed = _first(startup, None, readiness=False)
    typical = max(passed.typical, float(delay)) + (0 if readiness else period / 2)
    # The startup probe passes with its last attempt, right after a tick of this probe.
    latest = max(_budget(startup).latest, delay) + period
    return Span(max(passed.earliest, timing.delay_over), typical, latest)


def _budget(timing: Timing) -> Span:
    """The kill of a container that never succeeds, from the container running."""
    first = _first(timing, None, readiness=False)
    more, gap = timing.patience - 1, timing.unstarted
    latest = first.latest + more * max(gap, timing.timeout) + timing.timeout
    return _span(first.earliest + timing.least(more, gap), first.typical + more * gap, latest)


def _startup_kill(timing: Timing) -> Span:
    """The verdict of a startup probe, from any moment before its first attempt on."""
    least, budget = timing.least(timing.patience - 1, timing.unstarted), _budget(timing)
    return _span(least, budget.typical, budget.latest)


def _to_failure(timing: Timing) -> Span:
    """The verdict of failure, from the end of success."""
    more, gap = timing.failures - 1, timing.failing
    # Rule 4 needs attempts that are longer than a period.
    least = max(more - 1, 0) if timing.timeout > min(gap, timing.pace) else more
    latest = max(timing.pace, timing.timeout) + more * max(gap, timing.timeout) + timing.timeout
    return _span(timing.least(least, gap), timing.pace / 2 + more * gap, latest)


def _to_ready(timing: Timing, startup: Timing | None) -> Span:
    """The verdict of success, from the moment on which every attempt of the container would succeed."""
    started = 0 if startup is None else _latest_start(startup)
    first = max(max(started, timing.delay) + timing.period, timing.gap)
    unready = timing.failing if timing.ready_ms is None else min(timing.failing, timing.ready_ms / 1000)
    typical = unready / 2 + (timing.successes - 1) * timing.pace
    more = max(timing.successes, timing.recovery) - 1
    return _span(0, typical, first + more * max(timing.pace, timing.timeout) + timing.timeout)


def _span(earliest: float, typical: float, latest: float) -> Span:
    return Span(floor(earliest), typical, ceil(latest))


def _latest_start(startup: Timing) -> int:
    """When the startup probe has passed at the latest, from the moment on which every attempt would succeed."""
    # An attempt that fails may be under way at that moment, unless it is the one that kills.
    under_way = startup.gap if startup.patience > 1 else 0
    return max(startup.delay + startup.period, under_way) + startup.timeout
