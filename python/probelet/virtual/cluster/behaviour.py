"""How a container behaves: how long it takes to start and to answer, how much it carries, what it asks."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from probelet.errors import ClusterError
from probelet.virtual.cluster.duration import nanoseconds, positive

Spread: TypeAlias = str | Mapping[str, str]
"""How long something takes. A text is a constant: ``"40ms"``. ``{"p50": "40ms", "p99": "300ms"}`` is log-normal with
these percentiles, ``{"min": "10ms", "max": "50ms"}`` uniform, ``{"p50": "40ms"}`` a constant again. ``"per_day"``
beside these is a drift: so much is added for each day of virtual time since t = 0."""

SPREAD_KEYS: Final = (("p50",), ("p50", "p99"), ("min", "max"))
"""The keys that go together in a spread, without ``per_day``."""

Asker: TypeAlias = Literal["requests", "startup", "liveness", "readiness"]
"""The callers of a dependency: the requests that a container serves, and each type of probe."""

ASKERS: Final[tuple[Asker, ...]] = ("requests", "startup", "liveness", "readiness")


class Pause(msgspec.Struct, frozen=True):
    """A stop of the whole process, as a garbage collector makes: for ``lasts``, once in each period of ``every``.

    Each container has a phase of its own in the period, by the seed. A probe or request that meets a pause waits until
    it is over.
    """

    lasts: str
    """How long one pause is; less than ``every``."""
    every: str
    """From the beginning of a pause to that of the next."""


class Leak(msgspec.Struct, frozen=True, kw_only=True):
    """A number that grows while a container runs, until it is restarted."""

    latency_per_hour: str = "0s"
    """Added to the latency for each hour of the container's life, in steps of ten seconds."""
    memory_per_hour: str = "0"
    """Memory that is added in each hour, as a Kubernetes quantity: ``200Mi``."""
    memory_start: str = "0"
    """Memory at the container's start."""
    memory_limit: str = ""
    """At this much memory the container is killed: exit code 137, reason OOMKilled. Empty: never."""


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """How a container behaves. The defaults are a container that is up at once and answers in 5 ms, whatever the load.

    Durations are written as in Go, such as ``1m30s``.

    Raises:
        ClusterError: a value is impossible; the text names the field, the value and what is allowed.
    """

    startup: Spread = "0s"
    """From the container's start until it serves. Before that, connections are refused and commands fail."""
    latency: Spread = "5ms"
    """The time that one request occupies a worker of the container, without the dependencies that it asks."""
    concurrency: int | None = None
    """How many requests the container works on at once, from 1. None: any number, and load never slows it."""
    queue: int = 100
    """How many requests may wait for a worker, from 0; further ones are lost."""
    asks: Mapping[Asker, Sequence[str]] = {}
    """The dependencies that ``requests``, and the probes ``startup``, ``liveness`` and ``readiness``, ask. They are
    asked at the same time, so the slowest one counts. A probe whose dependency refuses fails at once (HTTP: 503)."""
    probes: Literal["shared", "apart"] = "shared"
    """``shared``: probes wait in the queue of the requests. ``apart``: a status server of its own answers them, which
    load does not reach; deadlocks and pauses of the process do."""
    probe_latency: Spread | None = None
    """The time that a probe takes without queue and dependencies. None: as ``latency``."""
    stop: str = "2s"
    """How long the container runs on, and serves, after SIGTERM; its grace may be shorter."""
    exits_after: Spread | None = None
    """The container ends by itself after so long. None: never."""
    exit_code: int = 1
    """Its exit code then, from 0 to 255."""
    pause: Pause | None = None
    """Pauses of the whole process."""
    leak: Leak | None = None
    """A number that grows until a restart."""

    def __post_init__(self) -> None:
        for name in ("startup", "latency", "probe_latency", "exits_after"):
            if (spread := getattr(self, name)) is not None:
                check_spread(name, spread)
        nanoseconds("stop", self.stop)
        if self.concurrency is not None and self.concurrency < 1:
            raise ClusterError(f"concurrency: {self.concurrency}: must be at least 1, or None for any number")
        if self.queue < 0:
            raise ClusterError(f"queue: {self.queue}: must be at least 0")
        if not 0 <= self.exit_code <= 255:
            raise ClusterError(f"exit_code: {self.exit_code}: must be from 0 to 255")
        for asker in self.asks:
            if asker not in ASKERS:
                raise ClusterError(f"asks: {asker!r}: must be one of {', '.join(ASKERS)}")
        if self.pause is not None:
            check_pause("pause", self.pause)


def check_pause(name: str, pause: Pause) -> None:
    """Raises ``ClusterError`` for a pause that is not shorter than its period."""
    if positive(f"{name}.lasts", pause.lasts) >= positive(f"{name}.every", pause.every):
        raise ClusterError(f"{name}.lasts: {pause.lasts!r}: must be less than every, which is {pause.every!r}")


def check_spread(name: str, spread: Spread) -> None:
    """Raises ``ClusterError`` for a spread that cannot be."""
    if isinstance(spread, str):
        nanoseconds(name, spread)
        return
    keys = tuple(key for key in spread if key != "per_day")
    if tuple(sorted(keys)) not in {tuple(sorted(each)) for each in SPREAD_KEYS}:
        allowed = " or ".join(", ".join(each) for each in SPREAD_KEYS)
        raise ClusterError(f"{name}: {dict(spread)!r}: must have the keys {allowed}, and may have per_day")
    values = {key: nanoseconds(f"{name}.{key}", spread[key]) for key in spread}
    least, most = ("p50", "p99") if "p50" in values else ("min", "max")
    if most in values and values[least] > values[most]:
        raise ClusterError(f"{name}.{most}: {spread[most]!r}: must be at least {least}, which is {spread[least]!r}")
    if "p99" in values and values["p50"] == 0:
        raise ClusterError(f"{name}.p50: {spread['p50']!r}: must be more than 0 beside a p99")
