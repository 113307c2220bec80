"""Lengths of time in a scenario file: constant, spread, or relative to what a container's probes allow."""

from typing import Annotated, ClassVar

import msgspec

from probelet.config.kubelet import Duration, DurationAboveZero, Section
from probelet.virtual.cluster.fault import Factor


class Length(Section, frozen=True, kw_only=True):
    """A length of time: a duration text, or one of `{p50, p99}` and `{min, max}`."""

    scalar_field: ClassVar[str] = "always"

    always: Duration | None = None
    """Every time as long; `40ms` alone means the same."""
    p50: DurationAboveZero | None = None
    """The median of a log-normal distribution; with `p99`."""
    p99: DurationAboveZero | None = None
    """Its 99th percentile, at least `p50`."""
    min: Duration | None = None
    """The least of a uniform distribution; with `max`."""
    max: Duration | None = None
    """The most of a uniform distribution."""

    @property
    def longest(self) -> int | None:
        """The longest that is usual, in nanoseconds: the 99th percentile of a log-normal distribution."""
        return next((value for value in (self.always, self.p99, self.max) if value is not None), None)


class Startup(Length, frozen=True, kw_only=True):
    """How long a container takes to start up."""

    of_budget: Factor | None = None
    """The length as a share of the start-up budget: how long the container's probes wait for it for sure, as `probelet
    explain` says. Without a probe that kills it: of 30 seconds."""
    per_day: Duration = 0
    """How much longer it takes with each day of the simulation. Default 0s."""
    per_day_of_budget: Annotated[float, msgspec.Meta(extra={"range": "not negative"})] = 0
    """The same as a share of the start-up budget. Default 0."""
