"""The life of one crashing container."""

from dataclasses import dataclass
from typing import Final, Literal

from probelet._rust import CrashModel
from probelet.lab.backoff.curve import Curve

Policy = Literal["Always", "OnFailure", "Never"]
Scheduler = Literal["exact", "kubelet"]

WINDOW_MAX_NS: Final = 100 * 365 * 86_400 * 1_000_000_000
"""A hundred years; the core's clock ends after 584."""


@dataclass(frozen=True)
class Life:
    """How long a container runs, how it exits, and which scheduler restarts it.

    It runs for ``run_ns`` each time, or for a time evenly drawn from ``run_ns`` to ``run_max_ns``, and exits with
    ``exit_code``. ``exact`` restarts it when it is due. ``kubelet`` works like the kubelet's sync loop: the relist of
    each second notices exits, and a refused start is repeated after the rest of the wait (60 s at most) times an even
    draw from [1, 1.5), at the next whole second.
    """

    run_ns: int = 0
    run_max_ns: int = 0
    exit_code: int = 1
    policy: Policy = "Always"
    scheduler: Scheduler = "exact"


@dataclass(frozen=True)
class Restart:
    """One restart; nanoseconds since the container was first started."""

    n: int
    """1 for the first restart: the second start."""
    at_ns: int
    """The restart's time; it includes the run before."""
    finished_ns: int
    """The end of the run before."""
    delay_ns: int
    """The back-off that the restart had to wait; 0 if it was free."""

    @property
    def late_ns(self) -> int:
        """The time between the end of the back-off and the restart.

        It is negative if the kubelet's housekeeping dropped the back-off early.
        """
        return self.at_ns - self.finished_ns - self.delay_ns


def model(curve: Curve, life: Life) -> CrashModel:
    """The curve and the life in the core's form."""
    return CrashModel(
        initial_ns=curve.initial_ns,
        max_ns=curve.max_ns,
        reset_ns=curve.reset_ns,
        factor_milli=round(curve.factor * 1000),
        jitter_milli=round(curve.jitter * 1000),
        first_free=curve.first_free,
        run_min_ns=life.run_ns,
        run_max_ns=max(life.run_ns, life.run_max_ns),
        exit_code=life.exit_code,
        policy=life.policy,
        by_kubelet=life.scheduler == "kubelet",
    )


def restarts(
    curve: Curve, life: Life | None = None, *, count: int, until_ns: int = WINDOW_MAX_NS, seed: int = 0
) -> list[Restart]:
    """The first ``count`` restarts up to ``until_ns``. Equal arguments give equal restarts."""
    found = model(curve, life or Life()).restarts(count=count, until_ns=until_ns, seed=seed)
    return [Restart(n, *times) for n, times in enumerate(found, start=1)]
