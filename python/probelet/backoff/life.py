"""The life of one container that crashes."""

from dataclasses import dataclass
from typing import Final, Literal

from probelet._rust import CrashModel
from probelet.backoff.curve import Curve

Policy = Literal["Always", "OnFailure", "Never"]
Scheduler = Literal["exact", "kubelet"]

WINDOW_MAX_NS: Final = 100 * 365 * 86_400 * 1_000_000_000
"""A hundred years; the core's clock ends after 584."""


@dataclass(frozen=True)
class Life:
    """What a container does, and who wakes it.

    It runs for ``run_ns`` each time, or for a time evenly drawn from ``run_ns`` to ``run_max_ns``, and exits with
    ``exit_code``. ``exact`` wakes it when it is due; ``kubelet`` as the kubelet's sync loop does: exits are seen by the
    relist of each second, a refused start is tried again after the rest of the wait (60 s at most) times an even draw
    from [1, 1.5), at the next whole second.
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
    """When the container was started again. What it ran before is part of it."""
    finished_ns: int
    """When it had ended."""
    delay_ns: int
    """The back-off it was charged; 0 for a free restart."""

    @property
    def late_ns(self) -> int:
        """By how much the restart came after the end of its back-off.

        Below zero where the kubelet's housekeeping dropped the back-off before that.
        """
        return self.at_ns - self.finished_ns - self.delay_ns


def model(curve: Curve, life: Life) -> CrashModel:
    """Both as the core takes them."""
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
    """The first ``count`` restarts, none later than ``until_ns``. Equal arguments give equal restarts."""
    found = model(curve, life or Life()).restarts(count=count, until_ns=until_ns, seed=seed)
    return [Restart(n, *times) for n, times in enumerate(found, start=1)]
